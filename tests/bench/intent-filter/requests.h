/*
 * requests: catalogs of any size up to 1,000 intents, and commands that are in
 * them and that are not.
 */
#ifndef BENCH_REQUESTS_H
#define BENCH_REQUESTS_H

#include <stdio.h>
#include <stdlib.h>

#include "unit/intent-filter/filter_case.h"

#define MISS "讲一个关于大海和星星的故事给我听吧"

static const char *const rooms[] = { "客厅", "卧室", "书房", "厨房", "阳台",
	"浴室", "走廊", "车库", "花园", "餐厅" };
static const char *const things[] = { "灯", "空调", "窗帘", "风扇", "音箱",
	"电视", "加湿器", "插座", "热水器", "扫地机" };
static const char *const verbs[][2] = { { "打开", "开" }, { "关闭", "关" },
	{ "调高", "升高" }, { "调低", "降低" }, { "暂停", "停下" },
	{ "继续", "恢复" }, { "检查", "查看" }, { "锁定", "锁上" },
	{ "重启", "重新启动" }, { "切换", "换个模式" } };

/* The i-th of 1,000 things that a house can do. */
static inline json_t *
intent(size_t i)
{
	const char *room = rooms[i / 10 % 10], *thing = things[i / 100];
	const char *const *verb = verbs[i % 10];
	char id[32], any[4][96], regex[160];

	snprintf(id, sizeof(id), "intent_%zu", i);
	snprintf(any[0], sizeof(any[0]), "%s%s的%s", verb[0], room, thing);
	snprintf(any[1], sizeof(any[1]), "%s%s%s", verb[1], room, thing);
	snprintf(any[2], sizeof(any[2]), "把%s%s%s", room, thing, verb[0]);
	snprintf(any[3], sizeof(any[3]), "%s%s%s一下", room, thing, verb[1]);
	snprintf(regex, sizeof(regex), "%s.{0,6}?(\\d{1,3})\\s*(?:度|档|%%|格)",
	    thing);
	return json_pack("{s:s,s:s,s:i,s:{s:[s,s,s,s],s:[s,s],s:f},"
			 "s:[{s:s,s:s},{s:s,s:s,s:i}]}",
	    "id", id, "name", any[0], "priority", (int)(i % 100), "match",
	    "keywords_any", any[0], any[1], any[2], any[3], "negative_keywords",
	    "不要", "别", "min_confidence", 0.35, "slots", "name", "skill",
	    "default", "house", "name", "level", "regex", regex, "regex_group",
	    1);
}

/* A request with n intents; freed by the caller. */
static inline char *
request(size_t n, bool hit)
{
	json_t *catalog = n == 3 ? case_seed() : json_array();
	const char *command = !hit ? MISS
	    : n == 3 ? "把灯变成绿色，然后10分钟后提醒我"
		     : "打开书房的灯，然后暂停阳台的灯";
	char *text;
	json_t *r;
	size_t i;

	for (i = json_array_size(catalog); i < n; i++)
		json_array_append_new(catalog, intent(i));
	r = json_pack(
	    "{s:s,s:o}", "command", command, "intent_catalog", catalog);
	text = json_dumps(r, JSON_COMPACT);
	json_decref(r);
	return text;
}

#endif /* !BENCH_REQUESTS_H */
