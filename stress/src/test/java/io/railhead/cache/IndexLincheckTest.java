package io.railhead.cache;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import io.railhead.stress.Trials;
import java.util.HashSet;
import java.util.Set;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** The index as several threads put, find, remove and pin pages: Lincheck's stress mode. */
class IndexLincheckTest {
    private static final Selection ALL = new Selection("bucket", "", Selection.Kind.PREFIX);

    @Test
    void itIsAMapOfPages() {
        Trials.hold(AsMap.class, Model.class);
    }

    @Test
    void whatIsPinnedAsItComesAndGoesIsFreedOnce() {
        Trials.hold(WithPins.class, WithPinsModel.class);
    }

    /** Pages by key. */
    @Param(name = "key", gen = IntGen.class, conf = "0:1")
    public static class AsMap {
        final Bench bench = new Bench();

        @Operation(params = "key")
        public void put(int key) {
            bench.index.put(Bench.key(key), bench.page(), "");
        }

        /** A page that is being replaced is looked for again, as a claim does. */
        @Operation(params = "key")
        public boolean find(int key) {
            Page page = bench.index.get(Bench.key(key), 0);
            while (page != null) {
                Lease lease = page.tryRetain();
                if (lease != null) {
                    lease.close();
                    return true;
                }
                page = bench.index.get(Bench.key(key), 0);
            }
            return false;
        }

        @Operation(params = "key")
        public void remove(int key) {
            bench.index.remove(Bench.key(key), EvictionCause.INVALIDATED);
        }

        @Validate
        public void nothingLeaks() {
            bench.requireNothingLeaked();
        }
    }

    /** What {@link AsMap} is. */
    public static class Model {
        private final Set<Integer> held = new HashSet<>();

        public void put(int key) {
            held.add(key);
        }

        public boolean find(int key) {
            return held.contains(key);
        }

        public void remove(int key) {
            held.remove(key);
        }
    }

    /** Pages between the shares and the pinned; one that moves may be missed. */
    @Param(name = "key", gen = IntGen.class, conf = "0:1")
    public static class WithPins {
        final Bench bench = new Bench();

        @Operation(params = "key")
        public void put(int key) {
            bench.index.put(Bench.key(key), bench.page(), "");
        }

        @Operation(params = "key")
        public void remove(int key) {
            bench.index.remove(Bench.key(key), EvictionCause.INVALIDATED);
        }

        @Operation(nonParallelGroup = "selections")
        public void pin() {
            bench.pins.add(ALL);
            boolean _ = bench.index.settle(ALL);
        }

        @Operation(nonParallelGroup = "selections")
        public void unpin() {
            boolean _ = bench.pins.remove(ALL);
            boolean _ = bench.index.settle(ALL);
        }

        @Validate
        public void nothingLeaks() {
            bench.requireNothingLeaked();
        }
    }

    /** Of {@link WithPins} nothing is told but that it ends. */
    public static class WithPinsModel {
        public void put(int key) {}

        public void remove(int key) {}

        public void pin() {}

        public void unpin() {}
    }
}
