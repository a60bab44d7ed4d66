"""Output of ansible-playbook: the recap, and the tasks that failed."""

from brimgate.engine.maps.playbook import DETECTOR
from brimgate.engine.maps.survey import TextLines

RUN = """PLAY [web] *********************************************************************

TASK [Gathering Facts] *********************************************************
ok: [web1]
fatal: [web2]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh", "unreachable": true}

TASK [nginx : install] *********************************************************
changed: [web1]
fatal: [web3]: FAILED! => {"changed": false, "msg": "No package matching 'nginx' found available"}

PLAY RECAP *********************************************************************
web1                       : ok=2    changed=1    unreachable=0    failed=0    skipped=0
web2                       : ok=0    changed=0    unreachable=1    failed=0    skipped=0
web3                       : ok=1    changed=0    unreachable=0    failed=0    skipped=0
"""


def test_failures_are_told_with_their_message() -> None:
    text = TextLines.of(RUN)
    assert DETECTOR.recognise(text) > 0.9
    survey = DETECTOR.survey(text)
    assert survey.title.startswith("ansible-playbook: 1 play, 2 tasks · 3 hosts, 1 unreachable")
    told = {one.place: one.text for one in survey.findings}
    assert told[5] == "UNREACHABLE web2: task Gathering Facts: Failed to connect to the host via ssh"
    assert told[9] == "FAILED web3: task nginx : install: No package matching 'nginx' found available"
    assert told[14] == "recap of web3 says failed=0, but 1 failed task stand above"


def test_other_texts_are_no_playbooks() -> None:
    for text in ("", "ok: [x]\n" * 5, "PLAY a game\n", "[]"):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
