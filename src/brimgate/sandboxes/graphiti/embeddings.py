"""Add vectors nobody can read, where they do not belong: getzep/graphiti issue #610."""

import random
from typing import Any, Final, cast

_DIMENSIONS: Final = 1_536
Json = dict[str, Any]


def with_embeddings(answer: Any) -> Any:
    """Return the answer with a vector among the attributes of each node and fact."""
    if not isinstance(answer, dict):
        return answer
    answer = cast("Json", answer)
    facts = [*answer.get("facts", ()), *answer.get("edges", ())]
    if "fact" in answer:
        facts.append(answer)
    for fact in facts:
        fact["attributes"]["fact_embedding"] = _vector(fact["uuid"])
    for node in answer.get("nodes", ()):
        node["attributes"]["name_embedding"] = _vector(node["uuid"])
    return answer


def _vector(uuid: str) -> list[float]:
    chance = random.Random(uuid)  # noqa: S311  # made-up data, not secrets
    return [round(chance.gauss(0, 0.03), 8) for _ in range(_DIMENSIONS)]
