# SPDX-License-Identifier: GPL-2.0-or-later
"""json_file.py: makes a list of records into JSON, reads it again and adds up one of the fields."""
import json

records = [{"id": i, "name": "customer %d" % i, "price": i * 7919 % 1000} for i in range(4000)]
print(sum(record["price"] for record in json.loads(json.dumps(records))))
