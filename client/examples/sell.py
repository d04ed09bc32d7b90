"""From a key to money in the bank: a client firm, one credit of it, a sale, its settlement and payout.

SCRIPDESK_URL and SCRIPDESK_KEY say where, and with which key of the sandbox.
"""

import os

from scripdesk_client import Scripdesk

desk = Scripdesk(os.environ["SCRIPDESK_URL"], os.environ["SCRIPDESK_KEY"])

# What the desk did before is not of this sale.
before = desk.list_events({"limit": 1}).page()["latest_sequence"]
name = "Kolhapur Exports Private Limited"
firm = desk.register_firm(
    {
        "legal_name": name,
        "iec": "AAGCK4822J",
        "pan": "AAGCK4822J",
        "email": "accounts@kolhapur.example",
        "role": "exporter",
        "bank": {"account_no": "50200012345680", "ifsc": "HDFC0000001", "name": name},
    }
)
firm_id = firm["firm_id"]
desk.verify_firm(firm_id)

# Everything that follows is told as an event, whose name says what its data is.
scrip_no = "0124/RODTEP/4822"
for _, _, event in desk.stream_events({"after_sequence": before}):
    print(event["sequence"], event["event"])
    if event["event"] == "firm.verified":
        desk.authorize_firm(
            firm_id,
            {
                "mandate": {
                    "signatory_name": "R. Mehta",
                    "reference": "MND-42",
                    "valid_until": "2027-03-31",
                }
            },
        )
        desk.declare_credits(
            firm_id,
            {
                "credits": [
                    {
                        "scrip_no": scrip_no,
                        "scheme": "RODTEP",
                        "face_paise": 25_000_000,
                        "issued_on": "2026-10-01",
                        "expires_on": "2028-09-30",
                    }
                ]
            },
        )
    elif event["event"] == "credit.listed":
        quote = desk.take_quote({"side": "sell", "scrip_no": scrip_no})
        if "no_quote" in quote:
            raise SystemExit(f"no price now: {quote['reason']}")
        desk.place_order({"quote_ref": quote["quote_ref"]})
    elif event["event"] == "payout.paid":
        paid = event["data"]
        print(f"paid ₹{paid['amount_paise'] / 100} by {paid['utr']}")
        break
