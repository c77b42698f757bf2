/*
 * spans: a turn and its stages as spans of its trace, for who collects them.
 */
#ifndef LLM_ORCHESTRATOR_SPANS_H
#define LLM_ORCHESTRATOR_SPANS_H

struct run;

/*
 * spans_begin(r):
 * The turn's own span begins, if somebody wants it: what it asks of others is
 * part of it.
 *
 * spans_end(r, error): It has ended, and with it its stages; error is NULL or
 * says why it came to nothing.
 */
void spans_begin(struct run *r);
void spans_end(struct run *r, const char *error);

#endif /* !LLM_ORCHESTRATOR_SPANS_H */
