/*
 * Finding words, and the fold to simplified characters.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/mem.h"
#include "zh/token.h"

#define BUCKETS   1024
#define WORDS_MAX 1200

/* Words by their first three bytes (fewer if shorter), longest first. */
static const struct word *by_start[WORDS_MAX];
static uint16_t first_of[BUCKETS + 1];

static unsigned
bucket_of(const char *p, size_t n)
{
	unsigned h = (unsigned char)p[0];

	/* A Latin word may be one letter long: only the first counts. */
	if (h >= 0x80 && n >= 3)
		h = h * 31 + (unsigned char)p[1] * 7 + (unsigned char)p[2];
	return h % BUCKETS;
}

static int
by_bucket(const void *a, const void *b)
{
	const struct word *x = *(const struct word *const *)a;
	const struct word *y = *(const struct word *const *)b;
	size_t nx = strlen(x->text), ny = strlen(y->text);
	unsigned bx = bucket_of(x->text, nx), by = bucket_of(y->text, ny);

	if (bx != by)
		return bx < by ? -1 : 1;
	return nx > ny ? -1 : nx < ny;
}

static void
index_words(void)
{
	static const struct lexicon *const parts[] = { &lexicon_zh,
		&lexicon_calendar, &lexicon_foreign, &lexicon_idiom };
	size_t n = 0, i, j;
	unsigned b = 0;

	for (i = 0; i < NELEM(parts); i++) {
		for (j = 0; j < parts[i]->n && n < WORDS_MAX; j++)
			by_start[n++] = &parts[i]->words[j];
	}
	qsort(by_start, n, sizeof(by_start[0]), by_bucket);
	for (i = 0; i <= n; i++) {
		unsigned end = i < n
		    ? bucket_of(by_start[i]->text, strlen(by_start[i]->text))
		    : BUCKETS;

		for (; b <= end; b++)
			first_of[b] = (uint16_t)i;
	}
}

static bool
is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

/* A Latin word ends where its letters end. */
static bool
ends_well(struct str s, size_t at, const char *text, size_t n)
{
	return !is_letter(text[n - 1]) || at + n >= s.n ||
	    !is_letter(s.p[at + n]);
}

const struct word *
lexicon_find(struct str s, size_t at)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned b;
	size_t i, n;

	(void)pthread_once(&once, index_words);
	b = bucket_of(s.p + at, s.n - at);
	for (i = first_of[b]; i < first_of[b + 1]; i++) {
		n = strlen(by_start[i]->text);
		if (n <= s.n - at &&
		    memcmp(by_start[i]->text, s.p + at, n) == 0 &&
		    ends_well(s, at, by_start[i]->text, n))
			return by_start[i];
	}
	return NULL;
}

/* Traditional and simplified in turn. */
static const char folds[] =
    "個个點点時时鐘钟鍾钟後后週周禮礼號号萬万億亿兩两這这過过內内間间來来從从"
    "將将現现當当剛刚會会兒儿臨临節节國国慶庆聖圣誕诞勞劳動动婦妇親亲師师軍军"
    "陽阳農农曆历歷历陰阴舊旧臘腊應应飯饭續续開开於于麼么幾几餘余數数遲迟歲岁"
    "復复獨独齋斋華华燈灯樹树聲声氣气線线樓楼請请裡里裏里鬧闹賴赖條条龍龙頭头"
    "總总鳴鸣響响終终馬马傍傍午午黃黄對对樣样還还長长給给讓让為为說说間间歸归"
    "紀纪門门灣湾關关機机電电雙双東东際际電电寒寒穀谷驚惊蟄蛰種种滿满處处霜霜"
    "連连隨随離离約约維维別别晝昼剎刹愛爱滅灭產产黨党記记護护";

/* The simplified form of three bytes, or NULL. */
static const char *
fold_of(const char *p)
{
	size_t i;

	for (i = 0; i + 6 <= sizeof(folds) - 1; i += 6) {
		if (memcmp(folds + i, p, 3) == 0)
			return folds + i + 3;
	}
	return NULL;
}

void
lexicon_fold(char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		unsigned char c = (unsigned char)p[i];
		const char *to = NULL;

		if (c >= 0xe4 && c <= 0xe9 && i + 3 <= n) {
			to = fold_of(p + i);
			if (to != NULL)
				memcpy(p + i, to, 3);
			i += 3;
		} else {
			i++;
		}
	}
}
