/*
 * Dead letters: any message of the stream can be shown, and a terminal
 * interprets nothing of what is printed for people.
 */
#include "work/dead_letter.h"
#include "must.h"
#include "wire/tree.h"

#define ARENA_MAX (4UL * 1024 * 1024)
#define OUT_MAX   (16UL * 1024 * 1024)

static void
check_plain(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		must((unsigned char)s.p[i] >= 0x20 || s.p[i] == '\n' ||
		    s.p[i] == '\t');
	must(str_utf8_count(s) >= 0);
}

static void
check_json(struct str line)
{
	struct wire_tree *v;

	/* Larger than any message: its parser has no room for that. */
	if (line.n > 512 * 1024)
		return;
	must(wire_tree_parse(line, &v) == RC_OK);
	must(wire_tree_kind(v) == WIRE_TREE_OBJECT);
	wire_tree_free(v);
}

/* The data is what follows the first NUL; the headers come before. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n }, headers;
	struct arena *a = arena_new(ARENA_MAX);
	struct buf out = BUF_INIT(OUT_MAX);
	struct bus_stream_msg m = { .seq = 1,
		.subject = STR("soul.dead.memory_store") };
	struct dead_letter_headers note;
	struct dead_letter l;

	headers = str_split(&rest, '\0');
	m.headers = headers;
	m.data = rest.p != NULL ? rest : STR("");
	dead_letter_read(&m, a, &l);
	dead_letter_write_line(&l, &out);
	dead_letter_write_full(&l, &out);
	check_plain(buf_str(&out));
	buf_reset(&out);
	dead_letter_write_json(&l, &out);
	if (str_utf8_count(headers) >= 0)
		check_json(buf_str(&out));
	dead_letter_headers("x", 1, l.item_id, &note);
	must(note.n == 2 || str_eq(str_of(note.id), l.item_id));
	buf_free(&out);
	arena_free(a);
	return 0;
}
