"""From a key to money in the bank: a client firm, one credit of it, a sale, its settlement and payout.

SCRIPDESK_URL and SCRIPDESK_KEY say where, and with which key of the sandbox.
"""

import os

from scripdesk_client import Scripdesk

desk = Scripdesk(os.environ["SCRIPDESK_URL"], os.environ["SCRIPDESK_KEY"])

name = "Acme Exports Private Limited"
firm = desk.register_firm(
    {
        "legal_name": name,
        "iec": "AAGCB7383J",
        "pan": "AAGCB7383J",
        "email": "accounts@acme.example",
        "role": "exporter",
        "bank": {"account_no": "50200012345678", "ifsc": "HDFC0000001", "name": name},
    }
)
firm_id = firm["firm_id"]
desk.verify_firm(firm_id)

# Everything that follows is told as an event; what holds is read from the service.
mandate = {"signatory_name": "R. Mehta", "reference": "MND-42", "valid_until": "2027-03-31"}
credit = {
    "scrip_no": "0123/RODTEP/4567",
    "scheme": "RODTEP",
    "face_paise": 25_000_000,
    "issued_on": "2026-10-01",
    "expires_on": "2028-09-30",
}
for _, event, data in desk.stream_events({"after_sequence": 0}):
    print(data["sequence"], event)
    if event == "firm.verified":
        desk.authorize_firm(firm_id, {"mandate": mandate})
        desk.declare_credits(firm_id, {"credits": [credit]})
    elif event == "credit.listed":
        quote = desk.take_quote({"side": "sell", "scrip_no": credit["scrip_no"]})
        if quote.get("no_quote"):
            raise SystemExit(f"no price now: {quote.get('reason')}")
        desk.place_order({"quote_ref": quote["quote_ref"]})
    elif event == "payout.paid":
        payout = desk.read_payout(data["entity"]["id"])
        print(f"paid ₹{payout['amount_paise'] / 100} by {payout['utr']}")
        break
