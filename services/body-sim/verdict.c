#include "verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const struct {
	const char *section;
	const char *text;
} line_texts[LINES_N] = {
	[LINE_RETAIN] = { "3.2",
	    "online, skills, intent_catalog are retained, nothing else is" },
	[LINE_QOS] = { "3.2", "QoS 1, of the heartbeat QoS 0" },
	[LINE_SKILLS] = { "3.3", "skills is valid" },
	[LINE_ONLINE] = { "3.4", "online has a valid value" },
	[LINE_WILL] = { "3.4",
	    "the will says offline when the connection breaks" },
	[LINE_HEARTBEAT] = { "3.5", "a heartbeat about every 10 s" },
	[LINE_IN_TIME] = { "3.6", "a result arrives within 5 s" },
	[LINE_CATALOG] = { "3.10", "intent_catalog is valid" },
	[LINE_ORDER] = { "6.1",
	    "announces online, skills, intent_catalog, heartbeat in order" },
	[LINE_TERMINAL_ID] = { "6.2",
	    "the terminal_id of skills is the topic's" },
	[LINE_VERSION] = { "6.3",
	    "skill_version and catalog_version never decrease" },
	[LINE_RESULT] = { "6.4", "every invoke has its result" },
	[LINE_RECONNECT] = { "6.7",
	    "announces itself at every reconnect, too" },
	[LINE_OWN_INTENTS] = { "6.8",
	    "every intent belongs to a reported skill" },
	[LINE_EMOTION_UPDATE] = { "6.11", "is subscribed to emotion_update" },
	[LINE_INTENT_ACTION] = { "6.12", "is subscribed to intent_action" },
	[LINE_REPORTS_RECONNECT] = { "7.4",
	    "skills and intent_catalog are sent again after a reconnect" },
	[LINE_MAPPING] = { "7.4",
	    "the skill of an intent is one skill of the body" },
	[LINE_EMOTION] = { "7.4", "emotions are shown within 200 ms" },
	[LINE_COMPLETE] = { "7.4", "results have request_id, ok, error" },
	[LINE_REPEATED] = { "3.6",
	    "a request_id that was executed is not executed again" },
};

static const char *const verdict_names[] = {
	[VERDICT_NOT_SEEN] = "not seen",
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "FAIL",
};

void
verdicts_init(struct verdicts *v)
{
	*v = (struct verdicts){ 0 };
	verdict_unseen(
	    v, LINE_EMOTION, "visible on the body only, not at the broker");
	verdict_unseen(v, LINE_EMOTION_UPDATE, "use --probe to send one");
	verdict_unseen(v, LINE_INTENT_ACTION, "use --probe to send one");
	verdict_unseen(v, LINE_RESULT, "use --invoke to send an invoke");
	verdict_unseen(v, LINE_IN_TIME, "use --invoke to send an invoke");
	verdict_unseen(v, LINE_COMPLETE, "use --invoke to send an invoke");
	verdict_unseen(v, LINE_REPEATED, "use --invoke to send an invoke");
	verdict_unseen(
	    v, LINE_WILL, "break its connection: cut its power, or use --kick");
	verdict_unseen(v, LINE_RECONNECT, "restart the body");
	verdict_unseen(v, LINE_REPORTS_RECONNECT, "restart the body");
	verdict_unseen(v, LINE_ORDER, "start or restart the body");
}

void
verdicts_free(struct verdicts *v)
{
	while (v->n_notes > 0)
		free(v->notes[--v->n_notes]);
}

/* Truncated at a character boundary. */
__attribute__((format(printf, 2, 0))) static void
verdict_format(char dst[VERDICT_WHY_MAX], const char *fmt, va_list ap)
{
	struct buf b = BUF_INIT(64 * VERDICT_WHY_MAX);

	buf_vprintf(&b, fmt, ap);
	str_copy(buf_str(&b), dst, VERDICT_WHY_MAX);
	buf_free(&b);
}

void
verdict_pass(struct verdicts *v, enum line line, const char *fmt, ...)
{
	va_list ap;

	if (v->lines[line].is == VERDICT_FAIL)
		return;
	v->lines[line].is = VERDICT_PASS;
	va_start(ap, fmt);
	verdict_format(v->lines[line].why, fmt, ap);
	va_end(ap);
}

void
verdict_fail(struct verdicts *v, enum line line, const char *fmt, ...)
{
	va_list ap;

	if (v->lines[line].is == VERDICT_FAIL)
		return;
	v->lines[line].is = VERDICT_FAIL;
	va_start(ap, fmt);
	verdict_format(v->lines[line].why, fmt, ap);
	va_end(ap);
}

void
verdict_unseen(struct verdicts *v, enum line line, const char *fmt, ...)
{
	va_list ap;

	if (v->lines[line].is != VERDICT_NOT_SEEN)
		return;
	va_start(ap, fmt);
	verdict_format(v->lines[line].why, fmt, ap);
	va_end(ap);
}

void
verdict_note(struct verdicts *v, const char *fmt, ...)
{
	char text[VERDICT_WHY_MAX];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	verdict_format(text, fmt, ap);
	va_end(ap);
	for (i = 0; i < v->n_notes; i++) {
		if (strcmp(v->notes[i], text) == 0)
			return;
	}
	if (v->n_notes < VERDICT_NOTES_MAX)
		v->notes[v->n_notes++] = mem_strdup(text);
}

size_t
verdict_count(const struct verdicts *v, enum verdict is)
{
	size_t i, n = 0;

	for (i = 0; i < LINES_N; i++)
		n += v->lines[i].is == is;
	return n;
}

void
verdicts_write(const struct verdicts *v, struct buf *out)
{
	size_t i;

	for (i = 0; i < LINES_N; i++) {
		buf_printf(out, "%-8s  %-4s  %s\n",
		    verdict_names[v->lines[i].is], line_texts[i].section,
		    line_texts[i].text);
		if (v->lines[i].why[0] != '\0')
			buf_printf(
			    out, "                %s\n", v->lines[i].why);
	}
	for (i = 0; i < v->n_notes; i++)
		buf_printf(out, "advice          %s\n", v->notes[i]);
	buf_printf(out, "%zu pass, %zu fail, %zu not seen\n",
	    verdict_count(v, VERDICT_PASS), verdict_count(v, VERDICT_FAIL),
	    verdict_count(v, VERDICT_NOT_SEEN));
}
