/*
 * Responses of Mem0 and Chroma: what is read is of the requested scope and
 * within the limits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

#define ARENA_MAX (1024UL * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
check(const struct rank_memory *m)
{
	if (!id_valid(m->id) || m->created.ms < 0)
		abort();
	if (m->text.n > 0 && m->text.p[m->text.n] != '\0')
		abort();
}

static void
mem0(struct str body, const struct memory_scope *scope, struct arena *a)
{
	struct mem0_items items;
	struct mem0_scope s;
	struct mem0_item one;
	size_t i;

	if (mem0_scope_init(scope, &s) != RC_OK)
		abort();
	if (mem0_read(body, &s, a, &items) == RC_OK)
		for (i = 0; i < items.n; i++)
			check(&items.item[i].memory);
	if (mem0_read_one(body, &s, a, &one) == RC_OK)
		check(&one.memory);
	(void)mem0_response_stored(body);
	(void)mem0_response_rejected(body);
}

static void
chroma(struct str body, const struct memory_scope *scope, struct arena *a)
{
	char id[CHROMA_COLLECTION_MAX] = "";
	struct chroma_rows rows;
	size_t i;

	if (chroma_read(body, scope, a, &rows) == RC_OK) {
		if (rows.n > rows.received)
			abort();
		for (i = 0; i < rows.n; i++)
			check(&rows.row[i]);
	}
	if (chroma_read_collection(body, STR("m"), id) == RC_OK &&
	    (id[0] == '\0' || strchr(id, '/') != NULL))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct memory_scope scope = { STR("u"), STR("s") };
	struct str body = { (const char *)data, n };
	struct arena *a = arena_new(ARENA_MAX);

	mem0(body, &scope, a);
	arena_reset(a);
	chroma(body, &scope, a);
	arena_free(a);
	return 0;
}
