package io.railhead.cache;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A map of a few pairs in one array, in insertion order: it takes half the memory of a hash table.
 * Immutable.
 */
final class FlatMap extends AbstractMap<String, String> {
    private final String[] pairs;

    private FlatMap(String[] pairs) {
        this.pairs = pairs;
    }

    static FlatMap copyOf(Map<String, String> map) {
        if (map instanceof FlatMap flat) {
            return flat;
        }
        String[] pairs = new String[2 * map.size()];
        int at = 0;
        for (Map.Entry<String, String> entry : map.entrySet()) {
            pairs[at++] = Objects.requireNonNull(entry.getKey());
            pairs[at++] = Objects.requireNonNull(entry.getValue());
        }
        return new FlatMap(pairs);
    }

    @Override
    public int size() {
        return pairs.length / 2;
    }

    @Override
    public @Nullable String get(@Nullable Object key) {
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i].equals(key)) {
                return pairs[i + 1];
            }
        }
        return null;
    }

    @Override
    public boolean containsKey(@Nullable Object key) {
        return get(key) != null;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super String> visitor) {
        for (int i = 0; i < pairs.length; i += 2) {
            visitor.accept(pairs[i], pairs[i + 1]);
        }
    }

    @Override
    public Set<Map.Entry<String, String>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return FlatMap.this.size();
            }

            @Override
            public Iterator<Map.Entry<String, String>> iterator() {
                return IntStream.range(0, size())
                        .mapToObj(i -> Map.entry(pairs[2 * i], pairs[2 * i + 1]))
                        .iterator();
            }
        };
    }
}
