/*
 * vocabulary: words of everyday commands that mean the same to every terminal:
 * conjunctions, prohibitions, questions, conditions, and the few kinds of
 * entities (action, device, room, color) that catalogs may name.
 *
 * In the form of command.folded.
 */
#ifndef INTENT_FILTER_TEXT_VOCABULARY_H
#define INTENT_FILTER_TEXT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

enum word_kind {
	WORD_ACTION,   /* entity "action": a verb; its value says which */
	WORD_VERB,     /* any other verb of action: 播放, play; no entity */
	WORD_PARTICLE, /* split verbs: turn it on; found as WORD_ACTION */
	WORD_OBJECT_MARKER, /* marks the object of a verb: 把 */
	WORD_DEVICE,        /* entity "device" */
	WORD_ROOM,          /* entity "room" */
	WORD_COLOR,         /* entity "color" */
	WORD_CONJUNCTION,   /* joins two requests: 然后, and then */
	WORD_LINK,          /* joins two requests or two objects: 、, and */
	WORD_FULL_STOP,     /* ends a sentence: 。 ! */
	WORD_QUESTION_MARK, /* ends a question */
	WORD_OPAQUE,      /* no other word is found inside it: 再见, 开心 */
	WORD_PROHIBITION, /* 别, 不要, don't */
	WORD_NEGATION,    /* negates what it directly precedes: 不 */
	WORD_CANCEL,      /* 取消 */
	WORD_WH,          /* 什么, how */
	WORD_YES_NO,      /* makes a yes-no question, at the end: 吗 */
	WORD_MODAL,     /* makes a request of a yes-no question: 能, 可以 */
	WORD_POLITE,    /* makes a request: 帮, 好吗, please */
	WORD_CONDITION, /* 如果 */
	WORD_REPORTED,  /* introduces reported speech: 他说 */
	WORD_COMPLETED, /* marks completed actions: 刚才, 已经 */
	WORD_OPINION,   /* 喜欢, 觉得 */
	WORD_STATE,     /* describes: 是, 太, 坏了 */
	WORD_META,      /* about language itself: 什么意思, 用英语 */
	WORD_THIRD_PERSON, /* 他, it */
	WORD_CORRECTION,   /* retracts what precedes it: 不对 */
	WORD_DENIAL,       /* the same, if it stands alone: 不, no */
	WORD_RETRACTION,   /* retracts all that precedes it: 算了 */
	WORD_REMINDER, /* the rest is to be announced, not executed: 提醒 */
	WORD_TITLE,    /* a title or name follows: 播放, play */
	WORD_AFTER,    /* joins two requests, after the first: 后 */
	WORD_DAY,      /* 今天, in examples */
	WORD_FILLER,   /* no meaning of its own: 那个, 嗯, 谢谢 */
	WORD_KINDS
};

struct word_hit {
	size_t start, end; /* bytes */
	enum word_kind kind;
	const char *value; /* of an entity: "open", "lamp"; else NULL */
};

struct vocabulary;

/* vocabulary_new(), vocabulary_free(s): The tables; NULL is allowed. */
struct vocabulary *vocabulary_new(void);
void vocabulary_free(struct vocabulary *s);

/*
 * vocabulary_find(s, folded, dst, max):
 * All hits by start, the longest first, at most max.  Hits of one kind do not
 * overlap, none lies inside a WORD_OPAQUE, and Latin words match as a whole.
 * Any thread.
 */
size_t vocabulary_find(const struct vocabulary *s, struct str folded,
    struct word_hit *dst, size_t max);

/*
 * vocabulary_is_noun(text, end):
 * Whether the verb that ends there is a part of a noun: 加湿 of 加湿器, 播放 of
 * 播放量.
 */
bool vocabulary_is_noun(struct str text, size_t end);

/*
 * vocabulary_begins_with_subject(text):
 * Whether an English text begins as a statement does: the, my, they.
 */
bool vocabulary_begins_with_subject(struct str text);

/*
 * vocabulary_prefix(text, kinds, value):
 * The bytes of the longest word of the kinds (1 << kind, or'ed) that text
 * begins with; 0: none.  *value is as in a hit.  Compares every word: for
 * catalogs, not for commands.
 */
size_t vocabulary_prefix(
    struct str text, unsigned long kinds, const char **value);

/*
 * vocabulary_core(folded, a):
 * A text without its fillers and days, as examples are compared; the whole text
 * if nothing else is in it, or if a is full.  As slow as vocabulary_prefix().
 */
struct str vocabulary_core(struct str folded, struct arena *a);

/* vocabulary_begins_with(text, word): "_" in word is a blank. */
bool vocabulary_begins_with(struct str text, struct str word);

/* vocabulary_entity_type(kind): Its name as an entity type, or NULL. */
const char *vocabulary_entity_type(enum word_kind kind);

/*
 * vocabulary_is_whole_word(text, start, end):
 * Whether a Latin word at [start, end) has no letter next to it; true of
 * others.
 */
bool vocabulary_is_whole_word(struct str text, size_t start, size_t end);

/*
 * vocabulary_list_has(list, word):
 * Whether a word without blanks is in a short list that is separated by them.
 */
bool vocabulary_list_has(struct str list, struct str word);

#endif /* !INTENT_FILTER_TEXT_VOCABULARY_H */
