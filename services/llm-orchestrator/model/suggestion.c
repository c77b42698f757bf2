/*
 * suggestion: what navigator suggests, as a line of the system prompt.  The
 * model is to follow it, and never to quote it.
 */
#include "core/arena.h"
#include "model/model.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* On one line: what follows a line end would look like a section. */
static void
suggestion_put_text(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++)
		buf_putc(out, (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
}

struct suggestion
suggestion_read(struct str json, struct wall now, struct arena *a)
{
	struct wire_mind_link m;
	struct suggestion s = { .age_ms = SUGGESTION_OLD_MS };
	struct wall made;

	if (json.n > 0 &&
	    wire_decode(&wire_mind_link_desc, json, a, &m, NULL) == RC_OK &&
	    wall_parse(m.created_at, &made) == RC_OK)
		s.age_ms = now.ms - made.ms;
	if (s.age_ms < SUGGESTION_OLD_MS)
		s.text = m.suggestion;
	return s;
}

void
suggestion_write(const struct suggestion *s, struct buf *out)
{
	if (s->text.n == 0)
		return;
	buf_puts(out,
	    "【建议】这是你自己心里的感觉，主人看不到；照着它说话，"
	    "但不要复述，也不要提到你有这个感觉");
	buf_puts(out,
	    s->age_ms < SUGGESTION_FRESH_MS ? "："
					    : "；它可能已经过时，只作参考：");
	suggestion_put_text(s->text, out);
	buf_putc(out, '\n');
}
