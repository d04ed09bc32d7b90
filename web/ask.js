// Questions to the service this page comes from, and its refusals in words.

/** @typedef {{path: string, problem: string}} FieldProblem */

export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {readonly FieldProblem[]} fields
   */
  constructor(message, fields = []) {
    super(message);
    this.fields = fields;
  }
}

/**
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function ask(path, body) {
  const sending = body && {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, sending).catch(() => undefined);
  if (!response)
    throw new Refusal("The desk cannot be reached. Check your connection and try again.");
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw new Refusal(wordsFor(response.status, answer), answer.detail?.fields);
}

/**
 * @param {number} status
 * @param {{detail?: {retry_after_s?: number}}} answer
 */
function wordsFor(status, { detail }) {
  if (status === 429)
    return `Too many requests from your network. ${waiting(detail?.retry_after_s ?? 60)}`;
  if (status === 422) return "Some of this needs to be corrected.";
  if (status >= 500) return "Something went wrong on our side. Please try again in a moment.";
  return "The desk could not take this. Please check what you entered.";
}

/** @param {number} seconds */
function waiting(seconds) {
  if (seconds <= 90) return "Please try again in a minute.";
  const hours = Math.ceil(seconds / 3_600);
  return `Please try again tomorrow, in about ${hours === 1 ? "an hour" : `${hours} hours`} (midnight IST).`;
}
