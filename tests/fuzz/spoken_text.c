/*
 * A completion, whole and split: what is streamed is the beginning of what is
 * the reply, and the reply does not quote.
 */
#include "reply/spoken_text.h"

#include <string.h>

#include "core/buf.h"
#include "must.h"

#define ARENA_MAX (4UL * 1024 * 1024)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct spoken_rule rule = {
		.secret = { STR("先安慰主人，少讲道理，多听他说。"),
		    STR("abcdefghijklmnopqrstuvwxyz") },
		.known = { STR("少讲道理") },
		.n_known = 1,
	};
	struct arena *a = arena_new(ARENA_MAX);
	struct buf reply = BUF_INIT(ARENA_MAX);
	struct spoken_text t;
	struct spoken got;
	size_t step = n > 0 ? data[0] % 7 + 1 : 1;

	spoken_text_read((struct str){ (const char *)data, n }, &rule, a, &got);
	must(got.text.p != NULL);
	spoken_text_init(&t, &rule);
	for (size_t at = 0; at < n; at += step)
		buf_put_str(&reply,
		    spoken_text_feed(&t,
			(struct str){ (const char *)data + at,
			    n - at < step ? n - at : step }));
	must(str_starts(got.text, buf_str(&reply)));
	must(str_find(got.text, STR("abcdefghijklmnopqrstuvwxyz")) < 0);
	spoken_text_free(&t);
	buf_free(&reply);
	arena_free(a);
	return 0;
}
