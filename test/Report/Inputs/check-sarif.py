# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks SARIF logs against the schema and the rules of code hosts."""
import json
import sys

import jsonschema


def check(log):
    for run in log["runs"]:
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        for result in run["results"]:
            assert result["ruleId"] in rules
            assert result["level"] == "error"
            assert result["partialFingerprints"]
            for location in result["locations"] + result.get("relatedLocations", []):
                place = location["physicalLocation"]
                assert not place["artifactLocation"]["uri"].startswith(("/", "file:"))
                assert place["region"]["startLine"] > 0
        yield len(run["results"])


schema = json.load(open(sys.argv[1]))
for path in sys.argv[2:]:
    log = json.load(open(path))
    jsonschema.validate(log, schema)
    print(f"{path}: {sum(check(log))} results")
