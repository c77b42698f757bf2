/*
 * Finding words, and the fold to simplified characters.
 */
#include "core/mem.h"
#include "zh/token.h"

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

/* The first character as a number that sorts as its bytes do. */
static unsigned
head_of(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;

	return b[0] < 0x80 ? (unsigned)b[0] << 16
			   : (unsigned)b[0] << 16 | (unsigned)b[1] << 8 | b[2];
}

/* The first word whose head does not sort before. */
static size_t
lower_bound(const struct lexicon *l, unsigned head)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (head_of(l->words[mid].text) < head)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The longest word of one part of the lexicon. */
static const struct word *
find_in(const struct lexicon *l, struct str s, size_t at)
{
	const struct word *best = NULL;
	unsigned head = head_of(s.p + at);
	size_t i = lower_bound(l, head);

	/* What begins with a word sorts behind it. */
	for (; i < l->n && head_of(l->words[i].text) == head; i++) {
		const char *text = l->words[i].text;
		size_t n = strlen(text);

		if (n <= s.n - at && memcmp(text, s.p + at, n) == 0 &&
		    ends_well(s, at, text, n))
			best = &l->words[i];
	}
	return best;
}

const struct word *
lexicon_find(struct str s, size_t at)
{
	static const struct lexicon *const parts[] = { &lexicon_zh,
		&lexicon_calendar, &lexicon_feast, &lexicon_foreign,
		&lexicon_idiom };
	const struct word *best = NULL, *w;
	size_t head = (unsigned char)s.p[at] < 0x80 ? 1 : 3, i;

	if (head > s.n - at)
		return NULL;
	for (i = 0; i < NELEM(parts); i++) {
		w = find_in(parts[i], s, at);
		if (w != NULL &&
		    (best == NULL || strlen(w->text) > strlen(best->text)))
			best = w;
	}
	return best;
}

/* Traditional and simplified in turn, sorted by bytes. */
static const char folds[] =
    "亞亚來来個个倫伦儀仪億亿兒儿內内兩两凱凯別别剎刹剛刚動动務务勝胜勞劳"
    "協协單单國国圖图婦妇實实寶宝將将對对師师幾几廟庙彌弥後后從从復复愛爱"
    "慶庆應应懺忏戰战戶户數数於于時时晝昼曆历會会東东條条棄弃樓楼樣样樹树"
    "機机權权歐欧歡欢歲岁歷历歸归殺杀氣气淨净溫温滅灭滿满濕湿灑洒灣湾為为"
    "熱热燈灯燭烛爐炉爾尔猶犹獅狮獨独獲获獻献現现瑪玛產产當当禮礼種种穀谷"
    "穌稣穫获節节紀纪約约紅红納纳紐纽終终給给經经維维線线總总續续羅罗聖圣"
    "聲声臘腊臨临舊旧莊庄華华萬万蓋盖蓮莲薩萨蘭兰處处號号蟄蛰衛卫裏里裡里"
    "親亲記记設设誕诞誦诵說说請请謝谢護护讓让豐丰費费賢贤賴赖賽赛贖赎軍军"
    "轉转農农這这連连週周過过遲迟還还鄰邻鍾钟鐘钟長长門门開开間间闆板關关"
    "陰阴陽阳際际隨随雙双雞鸡離离難难電电靈灵韋韦響响頓顿頭头飯饭餅饼餘余"
    "馬马驚惊體体鬧闹鳴鸣麗丽麼么黃黄點点黨党齊齐齋斋龍龙龐庞";

/* The simplified form of three bytes, or NULL. */
static const char *
fold_of(const char *p)
{
	size_t lo = 0, hi = (sizeof(folds) - 1) / 6;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = memcmp(folds + mid * 6, p, 3);

		if (order == 0)
			return folds + mid * 6 + 3;
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
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
