/*
 * Every message from hostile bytes: the first byte chooses the descriptor, the
 * rest is the text. What is accepted can be encoded, decoded again, and is then
 * encoded the same; what is rejected has a reason.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "must.h"
#include "wire/desc.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

static const struct wire_desc *
choose(uint8_t byte)
{
	size_t n = 0;
	while (wire_desc_at(n) != NULL)
		n++;
	return wire_desc_at(byte % n);
}

/* The quick check never accepts what the parser rejects. */
static void
check_plain(struct str text)
{
	struct wire_err err;
	struct wire_at top = { .err = &err };
	json_t *v;
	if (!wire_raw_plain(text, WIRE_DEPTH_MAX))
		return;
	must(wire_raw_parse(text, WIRE_DEPTH_MAX, &top, &v) == RC_OK);
	json_decref(v);
}

static void
check_twice(const struct wire_desc *d, const void *msg)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf first = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf second = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	void *third = mem_alloc(wire_desc_size(d));
	enum rc rc = wire_encode(d, msg, &first, &err);
	/* Defaults can make a message larger than the limit. */
	must(rc == RC_OK || rc == RC_TOOBIG);
	if (rc == RC_OK) {
		must(wire_decode(d, buf_str(&first), a, third, &err) == RC_OK);
		must(wire_encode(d, third, &second, &err) == RC_OK);
		must(str_eq(buf_str(&first), buf_str(&second)));
	}
	free(third);
	buf_free(&first);
	buf_free(&second);
	arena_free(a);
}

/* What is decoded without a tree is what a tree gives, to the byte. */
static void
check_direct(const struct wire_desc *d, struct str text)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct arena *b = arena_new(WIRE_ARENA_MAX);
	struct buf first = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	struct buf second = BUF_INIT(2 * WIRE_MESSAGE_MAX);
	void *direct = mem_alloc(wire_desc_size(d));
	void *tree = mem_alloc(wire_desc_size(d));
	struct wire_err err;
	wire_init(d, direct);
	if (wire_decode_direct(d, text, a, direct)) {
		must(wire_decode_tree(d, text, b, tree, &err) == RC_OK);
		must(arena_used(a) == arena_used(b));
		must(wire_encode(d, direct, &first, &err) == RC_OK);
		must(wire_encode(d, tree, &second, &err) == RC_OK);
		must(str_eq(buf_str(&first), buf_str(&second)));
	}
	free(direct);
	free(tree);
	buf_free(&first);
	buf_free(&second);
	arena_free(a);
	arena_free(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n == 0)
		return 0;
	const struct wire_desc *d = choose(data[0]);
	/* A separate copy, so that a sanitizer sees a read past its end. */
	char *copy = mem_alloc(n - 1);
	memcpy(copy, data + 1, n - 1);
	struct str text = { copy, n - 1 };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	void *msg = mem_alloc(wire_desc_size(d));
	struct wire_err err = { .why = "" };
	enum rc rc = wire_decode(d, text, a, msg, &err);
	if (rc == RC_OK) {
		check_twice(d, msg);
	} else {
		must(rc == RC_INVALID || rc == RC_TOOBIG);
		must(err.why[0] != '\0');
		must(err.path[0] == '\0' || err.path[0] == '/');
		must(memchr(err.path, '\0', sizeof(err.path)) != NULL);
	}
	check_plain(text);
	if ((d->flags & WIRE_TEXT) == 0)
		check_direct(d, text);
	free(msg);
	free(copy);
	arena_free(a);
	return 0;
}
