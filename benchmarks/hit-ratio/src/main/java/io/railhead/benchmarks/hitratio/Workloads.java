package io.railhead.benchmarks.hitratio;

import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;

/**
 * The reads of GPU racks as streams of pages. Five generators have one seed each, so that every run
 * and every policy sees the same pages. A page's number tells its workload: no two workloads share
 * one.
 */
final class Workloads {
    private static final long SEED = 20_261_122;
    private static final int CACHE_PAGES = 10_000;
    private static final String SOURCE = "generated";

    private Workloads() {}

    static List<Trace> all() {
        return List.of(of("training epochs", Workloads::epochs),
                of("model fan-out", Workloads::fanOut), of("KV cache", Workloads::keyValues),
                of("checkpoint bursts", Workloads::checkpoints),
                of("RAG reads", Workloads::points));
    }

    private interface Generator {
        void generate(Random random, LongStream.Builder pages);
    }

    private static Trace of(String name, Generator generator) {
        return new Trace(name, SOURCE, CACHE_PAGES, () -> {
            LongStream.Builder pages = LongStream.builder();
            generator.generate(new Random(SEED), pages);
            return pages.build().toArray();
        });
    }

    /** A data set of twice the cache, ten epochs: shards in a new order each time, whole. */
    private static void epochs(Random random, LongStream.Builder pages) {
        int shardPages = 64;
        int[] shards = sequence(2 * CACHE_PAGES / shardPages);
        for (int epoch = 0; epoch < 10; epoch++) {
            shuffle(shards, random);
            for (int shard : shards) {
                for (int page = 0; page < shardPages; page++) {
                    pages.add((long) shard * shardPages + page);
                }
            }
        }
    }

    /**
     * Loads of thirty models, each a quarter of the cache. Eight nodes load one model within a
     * minute, each in order and a little behind the one before. Few models are loaded often.
     */
    private static void fanOut(Random random, LongStream.Builder pages) {
        int models = 30;
        int modelPages = CACHE_PAGES / 4;
        int nodes = 8;
        int lag = 100;
        Zipf popularity = new Zipf(models, 1.0);
        for (int load = 0; load < 400; load++) {
            long first = (long) popularity.next(random) * modelPages;
            for (int step = 0; step < modelPages + lag * (nodes - 1); step++) {
                for (int node = 0; node < nodes; node++) {
                    int page = step - node * lag;
                    if (page >= 0 && page < modelPages) {
                        pages.add(first + page);
                    }
                }
            }
        }
    }

    /**
     * Blocks of prefixes. Each is written once, which caches it, and read a few times soon after,
     * or never. One in twenty belongs to a prompt that all share.
     */
    private static void keyValues(Random random, LongStream.Builder pages) {
        int shared = CACHE_PAGES / 10;
        Zipf sharedBlocks = new Zipf(shared, 0.8);
        long[] recent = new long[CACHE_PAGES / 2];
        long next = shared;
        for (int request = 0; request < 4_000_000; request++) {
            double kind = random.nextDouble();
            if (kind < 0.05) {
                pages.add(sharedBlocks.next(random));
            } else if (kind < 0.45 || next < shared + recent.length) {
                recent[(int) (next % recent.length)] = next;
                pages.add(next++);
            } else {
                // The younger, the likelier.
                int age = (int) (recent.length * Math.pow(random.nextDouble(), 3));
                pages.add(recent[(int) ((next - 1 - age) % recent.length)]);
            }
        }
    }

    /**
     * Repeated reads of nine tenths of the cache, with unequal frequencies. Now and then a
     * checkpoint of half the cache is written at once; only the last one is ever read back.
     */
    private static void checkpoints(Random random, LongStream.Builder pages) {
        int hot = CACHE_PAGES * 9 / 10;
        Zipf data = new Zipf(hot, 0.6);
        long checkpoint = hot;
        for (int round = 0; round < 20; round++) {
            for (int read = 0; read < 20_000; read++) {
                pages.add(data.next(random));
            }
            for (int page = 0; page < CACHE_PAGES / 2; page++) {
                pages.add(checkpoint++);
            }
        }
        for (int page = CACHE_PAGES / 2; page > 0; page--) {
            pages.add(checkpoint - page);
        }
    }

    /** Points of an index of ten times the cache, some more wanted than others; tastes change. */
    private static void points(Random random, LongStream.Builder pages) {
        int index = 10 * CACHE_PAGES;
        Zipf popularity = new Zipf(index, 0.9);
        int[] order = sequence(index);
        shuffle(order, random);
        for (int read = 0; read < 500_000; read++) {
            if (read % 100_000 == 99_999) {
                for (int change = 0; change < index / 20; change++) {
                    swap(order, random.nextInt(index / 100), random.nextInt(index));
                }
            }
            pages.add(order[popularity.next(random)]);
        }
    }

    private static int[] sequence(int length) {
        int[] numbers = new int[length];
        for (int i = 0; i < length; i++) {
            numbers[i] = i;
        }
        return numbers;
    }

    private static void shuffle(int[] numbers, Random random) {
        for (int i = numbers.length - 1; i > 0; i--) {
            swap(numbers, i, random.nextInt(i + 1));
        }
    }

    private static void swap(int[] numbers, int one, int other) {
        int kept = numbers[one];
        numbers[one] = numbers[other];
        numbers[other] = kept;
    }
}
