"""Report of a job: where its time went, as data, as text, and as a page in a notebook."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List

from ..program import run


class Report:
    """Report of a job (docs/formats/report.schema.json)."""

    def __init__(self, data: Dict[str, Any]) -> None:
        #: The document as it is in `_yunti/report.json`.
        self.data = data

    @property
    def bottleneck(self) -> str:
        """Sentence that names what bounds the job, and what would help."""
        return str((self.data.get("bottleneck") or {}).get("text", ""))

    @property
    def counters(self) -> Dict[str, Dict[str, int]]:
        """Counters by their group and name."""
        return dict(self.data.get("counters", {}))

    @property
    def seconds(self) -> float:
        """Wall clock of the job."""
        return float(self.data["job"]["wall_ms"]) / 1000

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the engine. Workers are processes of their own, and not in it."""
        return float(self.data["job"]["cpu_ms"]) / 1000

    @property
    def text(self) -> str:
        """The report as `yunti report` prints it."""
        return self._rendered([]).decode()

    @property
    def html(self) -> str:
        """The report as one self-contained page."""
        return self._rendered(["--html"]).decode()

    def _rendered(self, flags: List[str]) -> bytes:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="yunti-report-") as folder:
            path = os.path.join(folder, "report.json")
            with open(path, "w") as file:
                json.dump(self.data, file)
            return run(["report", *flags, path])

    def _repr_html_(self) -> str:
        import html

        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0" title="report of a job"></iframe>'

    def __repr__(self) -> str:
        job = self.data["job"]
        return f"<report of {job['name']}: {self.seconds:.3g} s; {self.bottleneck}>"
