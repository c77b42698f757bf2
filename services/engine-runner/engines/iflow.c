/*
 * iflow -p: text, and <Execution Info>, of which the last one counts.
 *
 * The text belongs on stdout and the information on stderr.  With a resumed
 * session they change sides; without any information the text is what is left,
 * unless the engine failed: then it is no message.
 */
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "engines/fact.h"
#include "spool/held_lines.h"
#include "wire/slice.h"

enum iflow_path { IFLOW_SESSION, IFLOW_INPUT, IFLOW_OUTPUT, IFLOW_PATHS_N };

static const char *const iflow_paths[IFLOW_PATHS_N] = { "session-id",
	"tokenUsage.input", "tokenUsage.output" };

#define IFLOW_SURE    0.8 /* text and information where they belong */
#define IFLOW_UNSURE  0.6
#define IFLOW_OPEN    "<Execution Info>"
#define IFLOW_CLOSE   "</Execution Info>"
#define IFLOW_RESUMES "Resuming session"

struct adapter_state {
	struct fact_sink to;
	struct wire_paths *paths;
	struct held_lines text[SPOOL_STREAMS_N];
	struct held_lines info[SPOOL_STREAMS_N]; /* since it was opened */
	struct buf json, message;
	bool informed;
	enum spool_stream informed_on;
	bool full; /* no more lines are held, there is no message */
};

static struct adapter_state *
iflow_create(const struct fact_sink *to)
{
	struct adapter_state *s = mem_zalloc(sizeof(*s));

	s->to = *to;
	s->paths = wire_paths_new(iflow_paths, IFLOW_PATHS_N);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		held_lines_init(&s->text[i]);
		held_lines_init(&s->info[i]);
	}
	buf_init(&s->json, HELD_BYTES_MAX);
	buf_init(&s->message, HELD_BYTES_MAX);
	return s;
}

static void
iflow_destroy(struct adapter_state *s)
{
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		held_lines_free(&s->text[i]);
		held_lines_free(&s->info[i]);
	}
	wire_paths_free(s->paths);
	buf_free(&s->json);
	buf_free(&s->message);
	free(s);
}

static void
iflow_report(struct adapter_state *s, const struct fact *f)
{
	s->to.fact(s->to.arg, f);
}

/* ---- information ---- */

static int64_t
iflow_number(const struct wire_found *f)
{
	int64_t v;

	return wire_found_i64(f, &v) == RC_OK && v >= 0 ? v : -1;
}

static void
iflow_informed(struct adapter_state *s, const struct line *all,
    const struct wire_found *found)
{
	struct fact f = fact_of(FACT_SESSION, all);

	s->informed = true;
	s->informed_on = all->stream;
	f.text = (struct rasp_text){ wire_found_inside(&found[IFLOW_SESSION]),
		found[IFLOW_SESSION].escaped };
	if (f.text.s.n > 0)
		iflow_report(s, &f);
	f = fact_of(FACT_USAGE, all);
	f.usage.input = iflow_number(&found[IFLOW_INPUT]);
	f.usage.output = iflow_number(&found[IFLOW_OUTPUT]);
	iflow_report(s, &f);
	f = fact_of(FACT_END, all);
	iflow_report(s, &f);
}

/* The information is closed by *l. */
static void
iflow_close(struct adapter_state *s, const struct line *l)
{
	struct held_lines *h = &s->info[l->stream];
	struct wire_found found[IFLOW_PATHS_N];
	struct line all = *l;
	struct fact f;

	all.from = h->v[0].from;
	buf_reset(&s->json);
	for (size_t i = 1; i < h->n; i++) {
		struct line part = held_lines_at(h, i);

		buf_put_str(&s->json, part.text);
		buf_putc(&s->json, '\n');
	}
	if (wire_slice_paths(s->paths, buf_str(&s->json), found) != RC_OK) {
		memset(found, 0, sizeof(found));
		f = fact_of(FACT_WARNING, &all);
		f.code = "IFLOW_EXECUTION_INFO_PARSE_FAILED";
		f.text.s = STR("Execution Info is not JSON.");
		iflow_report(s, &f);
	}
	iflow_informed(s, &all, found);
	held_lines_reset(h);
}

/* ---- text ---- */

static bool
iflow_is_text(const struct held_lines *h)
{
	for (size_t i = 0; i < h->n; i++) {
		if (str_trim(held_lines_at(h, i).text).n > 0)
			return true;
	}
	return false;
}

/* The lines as one message, without the blank lines around it. */
static void
iflow_message(struct adapter_state *s, struct held_lines *h, double confidence)
{
	struct str text = buf_str(&h->text);
	struct line first = held_lines_at(h, 0);
	struct fact f = fact_of(FACT_MESSAGE, &first);

	f.to = h->v[h->n - 1].to;
	f.ns = h->v[h->n - 1].ns;
	f.confidence = confidence;
	while (text.n > 0 && (text.p[0] == '\n' || text.p[0] == '\r')) {
		text.p++;
		text.n--;
	}
	while (text.n > 0 &&
	    (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	f.text.s = text;
	iflow_report(s, &f);
	held_lines_reset(h);
}

static void
iflow_drifted(struct adapter_state *s, const struct line *l)
{
	struct fact f = fact_of(FACT_WARNING, l);

	f.code = "IFLOW_CHANNEL_DRIFT_CORRECTED";
	f.text.s = STR("Text or Execution Info was on the other stream.");
	f.confidence = IFLOW_UNSURE;
	iflow_report(s, &f);
}

static void
iflow_choose(struct adapter_state *s)
{
	bool out = iflow_is_text(&s->text[SPOOL_OUT]);
	bool err = iflow_is_text(&s->text[SPOOL_ERR]);
	/* With the information on stdout the text is on stderr. */
	bool other =
	    err && (!out || (s->informed && s->informed_on == SPOOL_OUT));
	bool drifted =
	    other || (s->informed && s->informed_on == SPOOL_OUT && out);
	struct held_lines *h = &s->text[other ? SPOOL_ERR : SPOOL_OUT];
	struct line first;

	if (!out && !err)
		return;
	first = held_lines_at(h, 0);
	first.to = h->v[h->n - 1].to;
	first.ns = h->v[h->n - 1].ns;
	if (drifted)
		iflow_drifted(s, &first);
	iflow_message(
	    s, h, drifted || !s->informed ? IFLOW_UNSURE : IFLOW_SURE);
}

/* ---- lines ---- */

static void
iflow_overflow(struct adapter_state *s, const struct line *l)
{
	s->full = true;
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++) {
		held_lines_raw(&s->text[i], &s->to, i == SPOOL_OUT);
		held_lines_raw(&s->info[i], &s->to, false);
	}
	fact_raw(&s->to, l, l->stream == SPOOL_OUT);
}

static void
iflow_line(struct adapter_state *s, const struct line *l)
{
	struct held_lines *info = &s->info[l->stream];
	struct str text = str_trim(l->text);

	if (info->n > 0 && str_eq(text, STR(IFLOW_CLOSE)))
		iflow_close(s, l);
	else if (str_starts(text, STR(IFLOW_RESUMES)))
		fact_status(&s->to, l, "session_resumed");
	else if (s->full)
		fact_raw(&s->to, l, l->stream == SPOOL_OUT);
	else if (!held_lines_put(info->n > 0 || str_eq(text, STR(IFLOW_OPEN))
			 ? info
			 : &s->text[l->stream],
		     l))
		iflow_overflow(s, l);
}

static void
iflow_finish(struct adapter_state *s, const struct adapter_exit *x)
{
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		held_lines_raw(&s->info[i], &s->to, false);
	if (!s->full && (s->informed || !x->failed))
		iflow_choose(s);
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		held_lines_raw(&s->text[i], &s->to, false);
}

const struct adapter iflow_adapter = { iflow_create, iflow_line, iflow_finish,
	iflow_destroy };
