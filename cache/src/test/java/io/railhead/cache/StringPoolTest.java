package io.railhead.cache;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What many objects have in common is kept once, whoever brings it. */
final class StringPoolTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static String anew(String text) {
        return new String(text.toCharArray());
    }

    private static ObjectMetadata learnt(ObjectCache cache, String key, String type, long nanos) {
        ObjectId id = new ObjectId("store", "account", anew("bucket"), key, null);
        return new ObjectMetadata(new ObjectVersion(id, anew("\"1\""), "", CacheRig.PAGE),
                new TreeMap<>(
                        Map.of(anew("content-type"), anew(type), anew("etag"), anew("\"1\""))),
                nanos, cache.writes().epoch(id));
    }

    private static ObjectMetadata held(ObjectCache cache, ObjectMetadata learnt) {
        assertThat(cache.learn(learnt)).isTrue();
        ObjectMetadata held = requireNonNull(cache.find(learnt.version().object()));
        assertThat(held).isEqualTo(learnt);
        return held;
    }

    @Test
    void twoObjectsShareNamesAndCommonValues() {
        ObjectCache cache = CacheRig.of(leaks, 8).cache;
        ObjectMetadata a = held(cache, learnt(cache, "a", "text/plain", 1));
        ObjectMetadata b = held(cache, learnt(cache, "b", "text/plain", 1));
        List<String> namesOfA = new ArrayList<>(a.headers().keySet());
        List<String> namesOfB = new ArrayList<>(b.headers().keySet());
        assertThat(namesOfA).containsExactly("content-type", "etag");
        for (int i = 0; i < namesOfA.size(); i++) {
            assertThat(namesOfA.get(i)).isSameAs(namesOfB.get(i));
        }
        assertThat(a.headers().get("content-type")).isSameAs(b.headers().get("content-type"));
        assertThat(a.version().object().bucket()).isSameAs(b.version().object().bucket());
    }

    @Test
    void whatIsLearntAgainTakesNoMore() {
        ObjectCache cache = CacheRig.of(leaks, 8).cache;
        ObjectMetadata first = held(cache, learnt(cache, "a", "text/plain", 1));
        ObjectMetadata again = held(cache, learnt(cache, "a", "text/plain", 2));
        assertThat(again).isNotSameAs(first);
        assertThat(again.version()).isSameAs(first.version());
        assertThat(again.headers()).isSameAs(first.headers());
        ObjectMetadata changed = held(cache, learnt(cache, "a", "text/html", 3));
        assertThat(changed.version()).isSameAs(first.version());
        assertThat(changed.headers()).containsEntry("content-type", "text/html");
    }

    /** Each range of an object may be read by a request that learnt the version for itself. */
    @Test
    void pagesKeepTheVersionThatIsHeldNotTheirReaders() {
        CacheRig rig = CacheRig.of(leaks, 8);
        ObjectVersion stored = rig.source.put(CacheRig.id("a"), new byte[CacheRig.PAGE], "1");
        ObjectVersion held = held(rig.cache,
                new ObjectMetadata(stored, Map.of("etag", "1"), 1, rig.cache.writes()
                        .epoch(
                                stored.object())))
                .version();
        ObjectVersion readers = new ObjectVersion(CacheRig.id(anew("a")), anew("1"), "",
                CacheRig.PAGE);
        rig.readAll(readers).awaitBytes();
        rig.source.awaitAnswered();
        List<PageKey> keys = rig.cache.keys(new Selection("bucket", "a", Selection.Kind.KEY));
        assertThat(keys).hasSize(1);
        assertThat(keys.getFirst().version()).isSameAs(held);
    }

    @Test
    void aFlatMapIsAMap() {
        Map<String, String> map = FlatMap.copyOf(new TreeMap<>(Map.of("b", "2", "a", "1")));
        assertThat(map).isEqualTo(Map.of("a", "1", "b", "2")).containsOnlyKeys("a", "b");
        assertThat(map.get("c")).isNull();
        assertThat(map.hashCode()).isEqualTo(Map.of("a", "1", "b", "2").hashCode());
        assertThatThrownBy(() -> map.put("c", "3"))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> map.remove("a"))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(FlatMap.copyOf(Map.of())).isEmpty();
    }
}
