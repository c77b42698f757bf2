/*
 * embed_read: what an embeddings server answered.  Private, pure.
 */
#ifndef LLM_EMBED_READ_H
#define LLM_EMBED_READ_H

#include "core/arena.h"
#include "httpc/httpc.h"
#include "llm/embed.h"

/*
 * embed_read(rc, answer, a, vectors, n, r):
 * The end of a request for n texts, as httpc tells it.  vectors, n NULLs, has
 * those of r, whose texts and numbers live in a and in answer.
 */
void embed_read(enum rc rc, const struct httpc_response *answer,
    struct arena *a, const double **vectors, size_t n, struct embed_result *r);

#endif /* !LLM_EMBED_READ_H */
