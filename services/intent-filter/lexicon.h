/*
 * lexicon: the words of everyday commands that mean the same whatever body is
 * spoken to: what joins two wishes, what forbids, asks or supposes, and the few
 * kinds of things (action, device, room) that catalogs may name as entities.
 *
 * In the form of command.folded.
 */
#ifndef INTENT_FILTER_LEXICON_H
#define INTENT_FILTER_LEXICON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum lexicon_kind {
	LEXICON_ACTION, /* type "action": a verb of doing; value says which */
	LEXICON_VERB,   /* any other verb of doing: 播放, play; no entity */
	LEXICON_OBJECT, /* marks what is acted upon: 把 */
	LEXICON_DEVICE, /* type "device" */
	LEXICON_ROOM,   /* type "room" */
	LEXICON_COLOR,  /* type "color" */
	LEXICON_JOINT,  /* joins two wishes: 然后, and then */
	LEXICON_LINK,   /* joins two wishes or two things: 、, and */
	LEXICON_STOP,   /* ends a sentence: 。 ! */
	LEXICON_ASK,    /* ends a sentence that asks: ? */
	LEXICON_WHOLE,  /* a word in which others must not be found: 再见, 开心 */
	LEXICON_NOT,    /* forbids: 别, 不要, don't */
	LEXICON_NOT_DO, /* forbids what it stands directly before: 不 */
	LEXICON_CANCEL, /* undoes: 取消 */
	LEXICON_WH,     /* asks for something: 什么, how */
	LEXICON_YES_NO, /* asks whether, at the end: 吗 */
	LEXICON_MAY,    /* makes a request of what asks whether: 能, 可以 */
	LEXICON_PLEASE, /* makes a request: 帮, 好吗, please */
	LEXICON_IF,     /* supposes: 如果 */
	LEXICON_SAID,   /* tells what somebody said: 他说 */
	LEXICON_DONE,   /* tells what was: 刚才, 已经 */
	LEXICON_TALK,   /* talks about something: 喜欢, 觉得 */
	LEXICON_STATE,  /* describes: 是, 太, 坏了 */
	LEXICON_MEMO,   /* what follows is to be said later, not done: 提醒 */
	LEXICON_FILLER, /* means nothing by itself: 那个, 嗯, 谢谢 */
	LEXICON_KINDS
};

/* One that was found. */
struct lexicon_hit {
	size_t start, end; /* bytes */
	enum lexicon_kind kind;
	const char *value; /* of an entity: "open", "lamp"; else NULL */
};

/*
 * lexicon_find(folded, dst, max):
 * All hits in the order of their starts, the longest first, at most max.  Of
 * one kind no hit overlaps a longer one, and none lies inside a LEXICON_WHOLE;
 * Latin words are words of their own.  The first call takes longer.  Any thread.
 */
size_t lexicon_find(struct str folded, struct lexicon_hit *dst, size_t max);

/* lexicon_type(kind): Its name as an entity type, or NULL. */
const char *lexicon_type(enum lexicon_kind kind);

/*
 * lexicon_is_word(text, start, end):
 * Whether a Latin word at [start, end) has no letter at its sides; true of
 * others.
 */
bool lexicon_is_word(struct str text, size_t start, size_t end);

#endif /* !INTENT_FILTER_LEXICON_H */
