/*
 * Faces: eyes, a nose and a mouth, upright or lying on their side.
 */
#include "recognition/emoticon.h"

#include <stdbool.h>

#include "core/mem.h"
#include "recognition/codepoints.h"

/* Code points between the brackets of a face. */
#define FACE_MAX 12

#define FACE(e, strength)                                                 \
	{                                                                 \
		LEXICON_CUE, WIRE_EMOTION_##e, (strength), "", NULL, NULL \
	}

static const struct lexicon_row face_joy = FACE(JOY, .6),
				face_sad = FACE(SADNESS, .7),
				face_angry = FACE(ANGER, .7),
				face_vexed = FACE(FRUSTRATION, .6),
				face_doubt = FACE(DISAPPOINTMENT, .5),
				face_amazed = FACE(SURPRISE, .6),
				face_heart = FACE(GRATITUDE, .6);

static uint32_t
face_char(const uint32_t *text, size_t n, size_t at)
{
	return at < n ? text[at] : 0;
}

static bool
face_is_letter(uint32_t r)
{
	return codepoint_is_latin(r) && r != '\'';
}

/* Whether a bracket that opens at text[at] is closed: no mouth. */
static bool
face_is_bracket(const uint32_t *text, size_t n, size_t at)
{
	size_t i;

	for (i = at + 1; i < n && i < at + 2 * FACE_MAX; i++) {
		if (text[i] == ')')
			return true;
	}
	return false;
}

/* The mouth of a face that lies on its side. */
static const struct lexicon_row *
face_of_mouth(const uint32_t *text, size_t n, size_t at)
{
	bool is_last = !face_is_letter(face_char(text, n, at + 1));

	switch (face_char(text, n, at)) {
	case ')':
	case ']':
	case '}':
	case '*':
		return &face_joy;
	case '(':
		return face_is_bracket(text, n, at) ? NULL : &face_sad;
	case '[':
	case '{':
	case '<':
		return &face_sad;
	case '|':
	case '\\':
		return &face_doubt;
	case '/':
		return face_char(text, n, at + 1) == '/' ? NULL : &face_doubt;
	case '@':
		return is_last ? &face_angry : NULL;
	case 'd':
	case 'p':
		return is_last ? &face_joy : NULL;
	case 'c':
		return is_last ? &face_sad : NULL;
	case 's':
		return is_last ? &face_doubt : NULL;
	case 'o':
	case '0':
		return is_last ? &face_amazed : NULL;
	default:
		return NULL;
	}
}

/* :-) ;D =( >:( :'( */
static const struct lexicon_row *
face_lying(const uint32_t *text, size_t n, size_t at, size_t *len)
{
	const struct lexicon_row *row;
	size_t i = at;
	bool is_angry = text[i] == '>' || text[i] == '}', cries = false;

	if (is_angry)
		i++;
	if (face_char(text, n, i) != ':' && face_char(text, n, i) != ';' &&
	    face_char(text, n, i) != '=')
		return NULL;
	/* "note:(see below)", "a=3" */
	if (i > 0 && face_is_letter(text[i - 1]))
		return NULL;
	i++;
	if (face_char(text, n, i) == '\'' || face_char(text, n, i) == ',') {
		cries = true;
		i++;
	}
	if (face_char(text, n, i) == '-' || face_char(text, n, i) == '^' ||
	    face_char(text, n, i) == '~')
		i++;
	row = face_of_mouth(text, n, i);
	if (row == NULL)
		return NULL;
	*len = i + 1 - at;
	if (is_angry && (row == &face_sad || row == &face_doubt))
		return &face_angry;
	return cries && row == &face_doubt ? &face_sad : row;
}

static const struct lexicon_row *
face_of_eyes(uint32_t left, uint32_t right)
{
	if (left == '>' && right == '<')
		return &face_vexed;
	if (left == U'≧' && right == U'≦')
		return &face_joy;
	if (left != right)
		return NULL;
	switch (left) {
	case 't':
	case 'q':
	case ';':
	case U'╥':
	case U'ㅠ':
	case U'ㅜ':
		return &face_sad;
	case '^':
	case U'◕':
	case U'ˆ':
		return &face_joy;
	case '-':
	case 'x':
		return &face_vexed;
	case 'o':
	case '0':
	case '@':
	case U'⊙':
	case U'°':
		return &face_amazed;
	default:
		return NULL;
	}
}

/* T_T ^_^ >_< o.O QAQ: two eyes with a mouth between them. */
static const struct lexicon_row *
face_upright(const uint32_t *text, size_t n, size_t at, size_t *len)
{
	uint32_t left = text[at], mouth = face_char(text, n, at + 1);
	const struct lexicon_row *row;
	size_t i = at + 1;

	if (at > 0 && face_is_letter(left) && face_is_letter(text[at - 1]))
		return NULL;
	if (mouth == '_' || mouth == U'﹏' || mouth == U'▽' || mouth == U'ω' ||
	    mouth == U'皿' || mouth == U'д') {
		while (face_char(text, n, i) == mouth)
			i++;
	} else if (mouth == '.' || mouth == '-' || mouth == 'o' ||
	    ((left == 'q' || left == 't') &&
		(mouth == 'a' || mouth == 'w' || mouth == '^'))) {
		i++;
	} else {
		return NULL;
	}
	row = face_of_eyes(left, face_char(text, n, i));
	if (row == NULL ||
	    (face_is_letter(left) && face_is_letter(face_char(text, n, i + 1))))
		return NULL;
	*len = i + 1 - at;
	return row;
}

/* What a sign in a face with brackets shows. */
static const struct lexicon_row *
face_of_sign(uint32_t r)
{
	switch (r) {
	case U'╥':
	case U'ㅠ':
	case U'ㅜ':
	case ';':
	case U'︿':
	case U'ಥ':
		return &face_sad;
	case U'╬':
	case U'皿':
	case U'益':
	case U'ಠ':
	case U'凸':
	case U'╰':
		return &face_angry;
	case U'▽':
	case U'∀':
	case U'≧':
	case U'^':
	case U'◕':
	case U'‿':
	case U'ᴗ':
	case U'ω':
	case U'✿':
		return &face_joy;
	case U'д':
	case U'□':
	case U'⊙':
	case U'°':
		return &face_amazed;
	case U'﹏':
	case '>':
		return &face_vexed;
	default:
		return NULL;
	}
}

static bool
face_is_ideograph(uint32_t r)
{
	return (r >= 0x4e00 && r <= 0x9fff && r != U'皿' && r != U'益' &&
		   r != U'凸') ||
	    (r >= 'a' && r <= 'z' && r != 't' && r != 'o' && r != 'q');
}

/* (≧▽≦) (╥﹏╥) (´；ω；`): tears and anger show more than the mouth. */
static const struct lexicon_row *
face_bracketed(const uint32_t *text, size_t n, size_t at, size_t *len)
{
	const struct lexicon_row *best = NULL, *row;
	size_t i;

	for (i = at + 1; i < n && i <= at + FACE_MAX && text[i] != ')'; i++) {
		if (face_is_ideograph(text[i]))
			return NULL;
		row = face_of_sign(text[i]);
		if (row == &face_sad || row == &face_angry || best == NULL ||
		    (row == &face_joy && best == &face_vexed))
			best = row != NULL && best != &face_sad &&
				best != &face_angry
			    ? row
			    : best;
	}
	if (face_char(text, n, i) != ')' || i < at + 3)
		return NULL;
	*len = i + 1 - at;
	return best;
}

const struct lexicon_row *
emoticon_at(const uint32_t *text, size_t n, size_t at, size_t *len)
{
	const struct lexicon_row *row = NULL;

	switch (text[at]) {
	case '<':
		*len = 2;
		if (face_char(text, n, at + 1) == '3' &&
		    !face_is_letter(face_char(text, n, at + 2)))
			return &face_heart;
		*len = 3;
		return face_char(text, n, at + 1) == '/' &&
			face_char(text, n, at + 2) == '3'
		    ? &face_sad
		    : NULL;
	case '(':
		return face_bracketed(text, n, at, len);
	case '>':
	case ':':
	case ';':
	case '=':
		row = face_lying(text, n, at, len);
		break;
	default:
		break;
	}
	return row != NULL ? row : face_upright(text, n, at, len);
}
