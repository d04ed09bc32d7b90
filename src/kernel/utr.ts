/** What a bank names a payment by. */
export const utrForm = /^[A-Z0-9]{12,22}$/;
