/*
 * A ring.
 */
#include "requests.h"

#include <stdlib.h>

#include "core/mem.h"

struct request {
	char *id;
	char *answer;
};

struct requests {
	struct request ring[REQUESTS_MAX];
	size_t next; /* to be forgotten */
};

struct requests *
requests_new(void)
{
	return mem_zalloc(sizeof(struct requests));
}

void
requests_free(struct requests *r)
{
	size_t i;

	if (r == NULL)
		return;
	for (i = 0; i < REQUESTS_MAX; i++) {
		free(r->ring[i].id);
		free(r->ring[i].answer);
	}
	free(r);
}

static ptrdiff_t
find(const struct requests *r, struct str id)
{
	size_t i;

	for (i = 0; i < REQUESTS_MAX; i++) {
		if (r->ring[i].id != NULL && str_eq(str_of(r->ring[i].id), id))
			return (ptrdiff_t)i;
	}
	return -1;
}

bool
requests_first(struct requests *r, struct str id)
{
	struct request *q = &r->ring[r->next];

	if (find(r, id) >= 0)
		return false;
	free(q->id);
	free(q->answer);
	*q = (struct request){ .id = str_dup(id) };
	r->next = (r->next + 1) % REQUESTS_MAX;
	return true;
}

void
requests_answer(struct requests *r, struct str id, struct str answer)
{
	ptrdiff_t i = find(r, id);

	if (i < 0)
		return;
	free(r->ring[i].answer);
	r->ring[i].answer = str_dup(answer);
}

struct str
requests_answered(const struct requests *r, struct str id)
{
	ptrdiff_t i = find(r, id);

	return i >= 0 ? str_of(r->ring[i].answer) : (struct str){ 0 };
}
