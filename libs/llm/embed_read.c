/*
 * Vectors come with an index or in order, all of one length.
 */
#include "llm/embed_read.h"

#include "llm/fault.h"
#include "wire/msgs.h"
#include "wire/wire.h"

static void
refuse(struct embed_result *r, const char *why)
{
	r->rc = RC_INVALID;
	r->error = str_of(why);
}

/* The vectors in the order of the texts. */
static void
sort(struct embed_result *r, const struct wire_llm_embeddings_response *rep,
    const double **vectors, size_t n)
{
	size_t i, at;

	if (rep->n_data != n) {
		refuse(r, "as many vectors as texts were expected");
		return;
	}
	for (i = 0; i < n; i++) {
		at = rep->data[i].has_index ? (size_t)rep->data[i].index : i;
		if (at >= n || vectors[at] != NULL) {
			refuse(r, "an index is wrong");
			return;
		}
		if (rep->data[i].n_embedding == 0 ||
		    rep->data[i].n_embedding != rep->data[0].n_embedding) {
			refuse(r, "the vectors are not of one length");
			return;
		}
		vectors[at] = rep->data[i].embedding;
	}
	r->vectors = vectors;
	r->n = n;
	r->dimensions = rep->data[0].n_embedding;
}

void
embed_read(enum rc rc, const struct httpc_response *answer, struct arena *a,
    const double **vectors, size_t n, struct embed_result *r)
{
	struct wire_llm_embeddings_response rep;
	struct fault f;

	r->rc = rc;
	if (rc != RC_OK) {
		r->error = str_of(answer->why);
	} else if (answer->status < 200 || answer->status > 299) {
		fault_read(answer->body, answer->status, a, &f);
		r->rc = fault_rc(answer->status, &f);
		r->error = f.text;
	} else {
		r->rc = wire_decode(&wire_llm_embeddings_response_desc,
		    answer->body, a, &rep, NULL);
		if (r->rc == RC_OK)
			sort(r, &rep, vectors, n);
		else
			r->error = STR("the answer cannot be read");
	}
}
