#include "reply/spoken_text.h"

/* A completion is limited by its provider, and a reply by REPLY_MAX. */
#define SPOKEN_MAX ((size_t)16 * 1024 * 1024)

/* Follows the reply before a quote. */
#define SPOKEN_PRIVATE "这是我心里想的，就不说出来了。"

void
spoken_text_init(struct spoken_text *s, const struct spoken_rule *rule)
{
	*s = (struct spoken_text){ .released = 0 };
	inner_voice_init(&s->voice);
	quote_filter_init(&s->quote);
	buf_init(&s->reply, SPOKEN_MAX);
	for (size_t i = 0; i < SPOKEN_SECRETS_MAX; i++)
		quote_filter_add(&s->quote, rule->secret[i]);
	for (size_t i = 0; i < rule->n_known; i++)
		quote_filter_allow(&s->quote, rule->known[i]);
}

void
spoken_text_free(struct spoken_text *s)
{
	inner_voice_free(&s->voice);
	quote_filter_free(&s->quote);
	buf_free(&s->reply);
}

struct str
spoken_text_feed(struct spoken_text *s, struct str chunk)
{
	size_t from = s->released;

	inner_voice_feed(&s->voice, chunk, &s->reply);
	size_t n = quote_filter_released(&s->quote, buf_str(&s->reply), false);
	if (n > s->released)
		s->released = n;
	return (struct str){ buf_str(&s->reply).p + from, s->released - from };
}

/* Whole characters. */
static struct str
spoken_voice(const struct spoken_text *s)
{
	return str_trim(
	    str_clip(buf_str(&s->voice.voice), INNER_VOICE_MAX - 4));
}

void
spoken_text_read(struct str completion, const struct spoken_rule *rule,
    struct arena *a, struct spoken *out)
{
	struct spoken_text s;

	spoken_text_init(&s, rule);
	inner_voice_feed(&s.voice, completion, &s.reply);
	inner_voice_end(&s.voice, &s.reply);
	size_t n = quote_filter_released(&s.quote, buf_str(&s.reply), true);
	out->quoted = s.quote.blocked;
	if (n < s.reply.n)
		s.reply.n = n;
	if (out->quoted)
		buf_puts(&s.reply, SPOKEN_PRIVATE);
	out->text = arena_str(a, buf_str(&s.reply));
	out->inner_voice = arena_str(a, spoken_voice(&s));
	out->emotion = arena_str(
	    a, str_trim((struct str){ s.voice.emotion, s.voice.emotion_n }));
	spoken_text_free(&s);
}
