/*
 * speech: the words of everyday commands that mean the same whatever body is
 * spoken to: what joins two wishes, what forbids, asks or supposes, and the few
 * kinds of things (action, device, room) that catalogs may name as entities.
 *
 * In the form of command.folded.
 */
#ifndef INTENT_FILTER_SPEECH_H
#define INTENT_FILTER_SPEECH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

enum speech_kind {
	SPEECH_ACTION,   /* type "action": a verb of doing; value says which */
	SPEECH_VERB,     /* any other verb of doing: 播放, play; no entity */
	SPEECH_PARTICLE, /* parts of a verb said apart: turn it on; never given
			  */
	SPEECH_OBJECT,   /* marks what is acted upon: 把 */
	SPEECH_DEVICE,   /* type "device" */
	SPEECH_ROOM,     /* type "room" */
	SPEECH_COLOR,    /* type "color" */
	SPEECH_JOINT,    /* joins two wishes: 然后, and then */
	SPEECH_LINK,     /* joins two wishes or two things: 、, and */
	SPEECH_STOP,     /* ends a sentence: 。 ! */
	SPEECH_ASK,      /* ends a sentence that asks: ? */
	SPEECH_WHOLE, /* a word in which others must not be found: 再见, 开心 */
	SPEECH_NOT,    /* forbids: 别, 不要, don't */
	SPEECH_NOT_DO, /* forbids what it stands directly before: 不 */
	SPEECH_CANCEL, /* undoes: 取消 */
	SPEECH_WH,     /* asks for something: 什么, how */
	SPEECH_YES_NO, /* asks whether, at the end: 吗 */
	SPEECH_MAY,    /* makes a request of what asks whether: 能, 可以 */
	SPEECH_PLEASE, /* makes a request: 帮, 好吗, please */
	SPEECH_IF,     /* supposes: 如果 */
	SPEECH_SAID,   /* tells what somebody said: 他说 */
	SPEECH_DONE,   /* tells what was: 刚才, 已经 */
	SPEECH_TALK,   /* talks about something: 喜欢, 觉得 */
	SPEECH_STATE,  /* describes: 是, 太, 坏了 */
	SPEECH_META,   /* talks about the words: 什么意思, 用英语 */
	SPEECH_THIRD,  /* somebody else: 他, it */
	SPEECH_FIX,    /* takes back what stands before: 不对 */
	SPEECH_MEMO,   /* what follows is to be said later, not done: 提醒 */
	SPEECH_NAMING, /* what follows is the name of something: 播放, play */
	SPEECH_AFTER,  /* joins two wishes, behind the first: 后 */
	SPEECH_DAY,    /* when, as examples name it: 今天 */
	SPEECH_FILLER, /* means nothing by itself: 那个, 嗯, 谢谢 */
	SPEECH_KINDS
};

/* One that was found. */
struct speech_hit {
	size_t start, end; /* bytes */
	enum speech_kind kind;
	const char *value; /* of an entity: "open", "lamp"; else NULL */
};

struct speech;

/* speech_new(), speech_free(s): The tables; NULL is allowed. */
struct speech *speech_new(void);
void speech_free(struct speech *s);

/*
 * speech_find(s, folded, dst, max):
 * All hits in the order of their starts, the longest first, at most max.  Of
 * one kind no hit overlaps a longer one, and none lies inside a SPEECH_WHOLE;
 * Latin words are words of their own.  The first call takes longer.  Any
 * thread.
 */
size_t speech_find(const struct speech *s, struct str folded,
    struct speech_hit *dst, size_t max);

/*
 * speech_begins(text, kinds, value):
 * The bytes of the longest word of the kinds (1 << kind, or'ed) that text
 * begins with; 0 if it begins with none.  *value is as in a hit.  For texts
 * that are read once: it looks at every word.
 */
size_t speech_begins(struct str text, unsigned long kinds, const char **value);

/*
 * speech_core(folded, a):
 * A text without its fillers and days, as examples are compared; the whole if
 * it has nothing else, or if a is full.  As speech_begins().
 */
struct str speech_core(struct str folded, struct arena *a);

/* speech_type(kind): Its name as an entity type, or NULL. */
const char *speech_type(enum speech_kind kind);

/*
 * speech_is_word(text, start, end):
 * Whether a Latin word at [start, end) has no letter at its sides; true of
 * others.
 */
bool speech_is_word(struct str text, size_t start, size_t end);

#endif /* !INTENT_FILTER_SPEECH_H */
