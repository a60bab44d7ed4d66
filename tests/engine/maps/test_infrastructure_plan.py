"""Infrastructure plans: destroyed and replaced resources with their reason, opened access, wrong summaries."""

from brimgate.engine.maps.infrastructure_plan import DETECTOR
from brimgate.engine.maps.survey import TextLines

PLAN = """Terraform used the selected providers to generate the following execution plan.

Terraform will perform the following actions:

  # aws_db_instance.main must be replaced
-/+ resource "aws_db_instance" "main" {
      ~ engine_version = "14" -> "15"
      ~ identifier     = "a" -> "b" # forces replacement
      ~ deletion_protection = true -> false
    }

  # module.net.aws_security_group.web will be updated in-place
  ~ resource "aws_security_group" "web" {
      ~ ingress {
          + cidr_blocks = ["0.0.0.0/0"]
        }
    }

  # aws_s3_bucket.logs will be destroyed
  # (because aws_s3_bucket.logs is not in configuration)
  - resource "aws_s3_bucket" "logs" {
      - bucket = "logs" -> null
    }

  # aws_instance.web[0] will be created
  + resource "aws_instance" "web" {
      + encrypted = true
    }

Plan: 2 to add, 1 to change, 3 to destroy.

│ Warning: Argument is deprecated
"""

PULUMI = """Previewing update (prod):
     Type                 Name        Plan
     pulumi:pulumi:Stack  shop-prod
 +   ├─ aws:s3:Bucket     logs        create
 +-  ├─ aws:rds:Instance  db          replace     [diff: ~engine]
 -   └─ aws:ec2:Instance  old         delete

Resources:
    + 1 to create
    - 1 to delete
    +-1 to replace
"""


def test_a_plan_names_what_goes_and_why() -> None:
    text = TextLines.of(PLAN)
    assert DETECTOR.recognise(text) > 0.9
    survey = DETECTOR.survey(text)
    assert survey.title == "infrastructure plan: 4 resources: create 1, update 1, replace 1, destroy 1"
    told = {one.place: one.text for one in survey.findings}
    assert told[5] == 'REPLACE aws_db_instance.main: identifier "a" -> "b"'
    assert told[19] == "DESTROY aws_s3_bucket.logs: because aws_s3_bucket.logs is not in configuration"
    assert told[15] == 'module.net.aws_security_group.web: + cidr_blocks = ["0.0.0.0/0"]'
    assert told[9] == "aws_db_instance.main: ~ deletion_protection = true -> false"
    assert told[30] == "the summary says 3 to destroy, but 2 are listed"
    assert told[32] == "Warning: Argument is deprecated"
    assert len(told) == 6


def test_a_pulumi_preview_is_read() -> None:
    text = TextLines.of(PULUMI)
    assert DETECTOR.recognise(text) > 0.9
    survey = DETECTOR.survey(text)
    assert survey.title == "Pulumi preview: 3 resources: create 1, replace 1, destroy 1"
    assert [one.place for one in survey.findings] == [5, 6]


def test_other_texts_are_no_plans() -> None:
    for text in (
        "",
        "# this will be created\nfoo\n",
        "Plan: 3 to add\n",
        '{"a": "will be destroyed"}',
        "\x00",
    ):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
