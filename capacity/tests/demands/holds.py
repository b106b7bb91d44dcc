"""Times in the templates of `yunti observe demands`."""


class Holds:
    """Times of holds and tasks by resource, and of requests by kind, over all templates, without any queue."""

    def __init__(self, document):
        self.holds, self.tasks, self.unreleased, self.kinds = {}, {}, set(), {}
        for template in document["templates"]:
            self.open, self.ends = [], {}
            self.kinds.setdefault(template.get("kind"), []).append(self.walk(template["steps"], 0))
            self.unreleased |= {resource for resource, *_ in self.open}

    def walk(self, steps, now):
        """Returns the end of steps that begin at a time."""
        for step in steps:
            kind = step[0]
            if kind == "cpu":
                now += step[1]
            elif kind == "wait":
                now += step[2]
            elif kind == "acquire":
                self.open.append((step[1], now, step[2:] == ["shared"]))
            elif kind == "release":
                at = max(at for at, hold in enumerate(self.open) if hold[0] == step[1])
                resource, begin, is_shared = self.open.pop(at)
                self.holds.setdefault((resource, is_shared), []).append(now - begin)
            elif kind == "spawn":
                self.ends[step[1]] = self.walk(step[3], now)
                if step[2] is not None:
                    self.tasks.setdefault(step[2], []).append(self.ends[step[1]] - now)
            elif kind == "join":
                now = max([now, *(self.ends[task] for task in step[1])])
        return now
