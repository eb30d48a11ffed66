package io.railhead.gateway.config;

import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.CacheOnlyTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads {@code rules:}, and adds the default rule. */
final class RuleLoader {
    private static final Map<String, Freshness> WORDS = words();
    private static final Map<String, CacheMode> CACHE_MODES = cacheModes();

    private static final Map<String, Boolean> AUTHORITIES = new TreeMap<>(
            Map.of("backend", false, "policy", true));

    private static final Map<String, Boolean> DURABILITY = new TreeMap<>(
            Map.of("store", false, "none", true));

    private static final Map<String, Boolean> ACKNOWLEDGE = new TreeMap<>(
            Map.of("store", false, "disk", true));

    private static final Map<String, Boolean> TIERS = new TreeMap<>(
            Map.of("memory", false, "disk", true));

    /** Keys that say what becomes of a store's objects. */
    private static final List<String> OF_STORES = List.of("prefix", "backend", "freshness",
            "cache", "shared", "stale_if_error", "verify_fills", "acknowledge", "copies");

    /** Keys that say what becomes of objects that no store has. */
    private static final List<String> OF_CACHE_ONLY = List.of("ttl", "tier");

    private final Set<String> stores;
    private final boolean sole;
    private final boolean hasDisk;

    /**
     * @param sole whether every write goes through this one gateway, as the operator declares
     * @param cache whose disk tier rules may use
     */
    RuleLoader(Set<String> stores, boolean sole, GatewayConfig.Cache cache) {
        this.stores = stores;
        this.sole = sole;
        this.hasDisk = cache.disk() != null;
    }

    private static Map<String, Freshness> words() {
        Map<String, Freshness> words = new LinkedHashMap<>();
        words.put("strong", new Freshness.Strong());
        words.put("immutable", new Freshness.Immutable());
        return words;
    }

    private static Map<String, CacheMode> cacheModes() {
        Map<String, CacheMode> modes = new LinkedHashMap<>();
        modes.put("off", CacheMode.OFF);
        modes.put("reads", CacheMode.READS);
        modes.put("reads+writes", CacheMode.READS_AND_WRITES);
        return modes;
    }

    Rules load(Section root) throws ConfigException {
        List<Rules.Entry> entries = new ArrayList<>();
        for (Section section : root.list("rules")) {
            if (!entries.isEmpty() && entries.getLast().match().isAny()) {
                throw root.problem("rules[" + entries.size() + "]",
                        "is never reached: the rule before it matches everything");
            }
            entries.add(entry(section));
        }
        if (entries.isEmpty() || !entries.getLast().match().isAny()) {
            if (stores.size() > 1) {
                throw root.problem("rules", "with several backends the last rule must have no"
                        + " bucket, prefix or tenant, to say where everything else goes");
            }
            Section none = root.implied("rules[" + entries.size() + "]");
            entries.add(new Rules.Entry(new Match(null, null, null), rule(none)));
        }
        return new Rules(entries);
    }

    private Rules.Entry entry(Section section) throws ConfigException {
        Match condition = new Match(section.text("bucket"), section.text("prefix"),
                section.text("tenant"));
        boolean isCacheOnly = section.choice("durability", "store", DURABILITY);
        Duration life = section.duration("ttl", "0s");
        boolean mayGoToDisk = section.choice("tier", "memory", TIERS);
        for (String key : OF_CACHE_ONLY) {
            if (!isCacheOnly && section.has(key)) {
                throw section.problem(key, "has no meaning without durability: none");
            }
        }
        if (mayGoToDisk && !hasDisk) {
            throw section.problem("tier", "disk needs cache.disk, the files or devices for it");
        }
        Rule rule = isCacheOnly
                ? cacheOnly(section, new CacheOnlyTerms(life, mayGoToDisk))
                : rule(section);
        section.close();
        return new Rules.Entry(condition, rule);
    }

    /** Reads the rule of buckets that no store has. Rights come from the policy file alone. */
    private static Rule cacheOnly(Section section, CacheOnlyTerms terms)
            throws ConfigException {
        for (String key : OF_STORES) {
            if (section.has(key)) {
                throw section.problem(key, "has no meaning under durability: none");
            }
        }
        if (!section.has("bucket")) {
            throw section.missing("bucket",
                    "is missing; durability: none is for buckets that no store has");
        }
        if (section.has("authorization") && (section.isSection("authorization")
                || !section.choice("authorization", "policy", AUTHORITIES))) {
            throw section.problem("authorization",
                    "must be policy under durability: none, where no store can be asked");
        }
        return new Rule(CacheOnlyObjects.BACKEND, new Freshness.CacheOnly(terms), Duration.ZERO,
                CacheMode.READS, section.flag("rdma", true),
                section.value("max_object", "unlimited", RuleLoader::maxObject), false, false,
                false, true);
    }

    private Rule rule(Section section) throws ConfigException {
        boolean byWord = section.has("authorization") && !section.isSection("authorization");
        boolean policyDecides = byWord
                && section.choice("authorization", "backend", AUTHORITIES);
        Section authorization = byWord
                ? Section.root("", null)
                : section.section("authorization");
        Rule rule = new Rule(
                backend(section, section.text("backend")),
                freshness(section),
                authorization.duration("remember", "60s"),
                section.choice("cache", "reads", CACHE_MODES),
                section.flag("rdma", true),
                section.value("max_object", "unlimited", RuleLoader::maxObject),
                section.flag("shared", false),
                section.flag("stale_if_error", false),
                section.flag("verify_fills", false),
                policyDecides);
        authorization.close();
        return acknowledgesAtDisk(section) ? rule.acknowledgingAtDisk() : rule;
    }

    /** The number of copies must be written out: one copy dies with its disk. */
    private static boolean acknowledgesAtDisk(Section section) throws ConfigException {
        boolean atDisk = section.choice("acknowledge", "store", ACKNOWLEDGE);
        int copies = section.count("copies", 1, 1, 2);
        if (!atDisk && section.has("copies")) {
            throw section.problem("copies", "has no meaning without acknowledge: disk");
        }
        if (atDisk && !section.has("copies")) {
            throw section.missing("copies", "is missing; acknowledge: disk needs copies: 1, which"
                    + " says that a write is lost with the disk until the store has it");
        }
        if (copies != 1) {
            throw section.problem("copies", "cannot be 2 yet: a write is kept on one disk");
        }
        return atDisk;
    }

    private static ByteCount maxObject(String text) {
        return text.equals("unlimited") ? ByteCount.UNLIMITED : ByteCount.parse(text);
    }

    private String backend(Section section, @Nullable String name) throws ConfigException {
        if (name == null) {
            if (stores.size() > 1) {
                throw section.missing("backend", "is missing; one of " + String.join(", ", stores));
            }
            return stores.iterator().next();
        }
        if (!stores.contains(name)) {
            String nearest = DidYouMean.nearest(name, stores);
            throw section.problem("backend", "there is no '" + name + "' under backends"
                    + (nearest == null ? "" : "; did you mean " + nearest + "?"));
        }
        return name;
    }

    private static Freshness word(String text) {
        Freshness mode = WORDS.get(text);
        if (mode == null) {
            throw new IllegalArgumentException("'" + text + "' is not one of "
                    + String.join(", ", WORDS.keySet()) + switch (text) {
                        case "bounded", "exclusive" -> "; " + text + " has a duration: {" + text
                                + ": 30s}";
                        default -> isDuration(text)
                                ? "; at most that old is {bounded: " + text + "}"
                                : "; or {bounded: 30s}, {exclusive: 1h}";
                    });
        }
        return mode;
    }

    private static boolean isDuration(String text) {
        try {
            return !Quantity.duration(text).isZero();
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    private Freshness freshness(Section section) throws ConfigException {
        if (!section.isSection("freshness")) {
            return section.value("freshness", String.join(", ", WORDS.keySet()), "strong",
                    RuleLoader::word);
        }
        Section modes = section.section("freshness");
        if (modes.has("bounded") == modes.has("exclusive")) {
            throw section.problem("freshness",
                    "must be strong, immutable, {bounded: 30s} or {exclusive: 1h}");
        }
        Freshness freshness = modes.has("bounded")
                ? new Freshness.Bounded(modes.timeout("bounded", ""))
                : new Freshness.Exclusive(modes.timeout("exclusive", ""));
        modes.close();
        if (freshness instanceof Freshness.Exclusive && !sole) {
            throw section.problem("freshness", "exclusive needs gateway.sole: true, which says that"
                    + " no other gateway and nobody past this one writes there; or use bounded");
        }
        return freshness;
    }
}
