"""The errors of the API: a number of its own, and a sentence."""

from typing import Any, Final, NamedTuple

from brimgate.sandboxes.vikunja.wire import answer_json
from brimgate.sandboxes.wire import Refused


class Problem(NamedTuple):
    status: int
    code: int
    message: str


class Failed(Refused):
    """Ends a request with one of the API's errors."""

    def __init__(self, problem: Problem, *values: object) -> None:
        message = problem.message.format(*values) if values else problem.message
        super().__init__(answer_json(problem.status, {"code": problem.code, "message": message}))


class Plain(Refused):
    """Ends a request with an error of the web framework, which has no number."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(answer_json(status, {"message": message}, tuple(headers.items())))


class Invalid(Refused):
    """Ends a request whose body breaks the rules of its fields."""

    def __init__(self, *fields: str, message: str = "Invalid Data") -> None:
        body: dict[str, Any] = {"code": 2002, "message": message, "invalid_fields": list(fields)}
        super().__init__(answer_json(412, body))


UNAUTHORIZED: Final = Problem(401, 11, "missing, malformed, expired or otherwise invalid token provided")
UNSEEN: Final = Problem(403, 0, "You don't have the permission to see this")
FORBIDDEN: Final = Problem(403, 0, "Forbidden")
NOT_ALLOWED: Final = Problem(403, 1, "You're not allowed to do this.")
"""Of lists below something that one may not see, and of a move to where one may not write."""

NO_PASSWORD: Final = Problem(400, 1004, "Please specify a username and a password.")
NO_USER: Final = Problem(404, 1005, "The user does not exist.")
WRONG_PASSWORD: Final = Problem(403, 1011, "Wrong username or password.")
BAD_ZONE: Final = Problem(400, 2003, "The timezone '{}' is invalid")
BAD_MODEL: Final = Problem(400, 2004, "Invalid model provided: {}")

NO_PROJECT: Final = Problem(404, 3001, "This project does not exist.")
NO_READ_ACCESS: Final = Problem(403, 3004, "You need to have read access to this project.")
IDENTIFIER_TAKEN: Final = Problem(400, 3007, "A project with this identifier already exists.")
ARCHIVED: Final = Problem(
    412, 3008, "This project is archived. Editing or creating new tasks is not possible."
)
PSEUDO_PARENT: Final = Problem(412, 3009, "This project cannot belong a dynamically generated project.")
OWN_CHILD: Final = Problem(412, 3010, "This project cannot be a child of itself.")
PROJECT_CYCLE: Final = Problem(
    412, 3011, "This project cannot have a cyclic relationship to a parent project."
)
DEFAULT_DELETED: Final = Problem(
    412, 3012, "This project cannot be deleted because it is the default project of a user."
)
DEFAULT_ARCHIVED: Final = Problem(
    412, 3013, "This project cannot be archived because it is the default project of a user."
)
NO_VIEW: Final = Problem(404, 3014, "This project view does not exist.")
PARENT_ARCHIVED: Final = Problem(
    412, 3016, "The parent project is archived. Un-archive the parent project first."
)

NO_TITLE: Final = Problem(400, 4001, "You must provide at least a task title.")
NO_TASK: Final = Problem(404, 4002, "This task does not exist")
NO_BULK_TASK: Final = Problem(400, 4004, "Need at least one tasks to do bulk editing.")
UNSEEN_TASK: Final = Problem(403, 4005, "You don't have the permission to see this task.")
BAD_RELATION: Final = Problem(400, 4007, "The task relation is invalid.")
RELATION_EXISTS: Final = Problem(409, 4008, "The task relation already exists.")
NO_RELATION: Final = Problem(404, 4009, "The task relation does not exist.")
SELF_RELATION: Final = Problem(400, 4010, "You cannot relate a task with itself")
NO_ATTACHMENT: Final = Problem(404, 4011, "This task attachment does not exist.")
ATTACHMENT_TOO_LARGE: Final = Problem(
    400, 4012, "The task attachment exceeds the configured file size of {} bytes, filesize was {}"
)
BAD_ORDER: Final = Problem(
    400, 4014, "The task sort order 'invalid' is invalid. Allowed is either asc or desc."
)
NO_COMMENT: Final = Problem(404, 4015, "This task comment does not exist")
BAD_FIELD: Final = Problem(400, 4016, "The task field '{}' is invalid.")
BAD_COMPARATOR: Final = Problem(400, 4017, "The task filter comparator '{}' is invalid.")
BAD_VALUE: Final = Problem(400, 4019, "The task filter value '{}' for field '{}' is invalid.")
FOREIGN_ATTACHMENT: Final = Problem(400, 4020, "This attachment does not belong to that task.")
ASSIGNED: Final = Problem(400, 4021, "This user is already assigned to that task.")
BAD_REMINDER: Final = Problem(400, 4022, "Please provide what the reminder date is relative to")
RELATION_CYCLE: Final = Problem(409, 4023, "This task relation would create a cycle.")
BAD_FILTER: Final = Problem(400, 4024, "The filter expression '{}' is invalid: {}")
BAD_REACTION: Final = Problem(400, 4025, "The reaction kind '{}' is invalid.")
NO_POSITION: Final = Problem(400, 4026, "You must provide a project view ID when sorting by position")
BAD_COLUMN: Final = Problem(400, 4027, "The task field '{}' is invalid.")
BAD_REPEAT: Final = Problem(
    400, 4029, "The task repeat interval must be between 0 and 315360000 seconds (10 years)."
)

NO_TEAM: Final = Problem(404, 6002, "This team does not exist.")
TEAM_HAS_ACCESS: Final = Problem(409, 6004, "This team already has access.")
IS_MEMBER: Final = Problem(409, 6005, "This user is already a member of that team.")
LAST_MEMBER: Final = Problem(400, 6006, "You cannot delete the last member of a team.")
TEAM_WITHOUT_ACCESS: Final = Problem(403, 6007, "This team does not have access to the project.")
HAS_ACCESS: Final = Problem(409, 7002, "This user already has access to this project.")
NO_ACCESS: Final = Problem(403, 7003, "This user does not have access to the project.")
HAS_LABEL: Final = Problem(400, 8001, "This label already exists on the task.")
NO_LABEL: Final = Problem(404, 8002, "This label does not exist.")
UNSEEN_LABEL: Final = Problem(403, 8003, "You don't have access to this label.")
NO_BUCKET: Final = Problem(404, 10001, "This bucket does not exist.")
FOREIGN_BUCKET: Final = Problem(400, 10002, "This bucket does not belong to that project.")
LAST_BUCKET: Final = Problem(412, 10003, "You cannot remove the last bucket on this project view.")
BUCKET_FULL: Final = Problem(
    412,
    10004,
    "You cannot add the task to this bucket as it already exceeded the limit of tasks it can hold.",
)
NO_FILTER: Final = Problem(404, 11001, "This saved filter does not exist.")
BAD_ENTITY: Final = Problem(412, 12001, "The subscription entity type is invalid.")
SUBSCRIBED: Final = Problem(412, 12002, "You're already subscribed.")
BAD_GRANT: Final = Problem(400, 14002, "The permission {} of group {} is invalid.")
