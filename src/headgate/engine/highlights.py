from headgate.engine.source import Source
from headgate.engine.tokens import Estimator
def find_highlights(source: Source, estimator: Estimator, budget: int) -> str:
    return ""
