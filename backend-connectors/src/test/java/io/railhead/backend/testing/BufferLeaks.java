package io.railhead.backend.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails each class of tests after which buffers were collected that nobody had released. It is in
 * force for all of them ({@code junit-platform.properties}); Netty tracks every buffer, and where
 * it was used.
 */
public final class BufferLeaks implements AfterAllCallback {
    private static final ConcurrentLinkedQueue<String> LEAKS = new ConcurrentLinkedQueue<>();
    /**
     * One more than buffers need that were reachable from others: references of a collection are
     * all enqueued once a later one's sentinel is.
     */
    private static final int COLLECTIONS = 3;
    private static final long LONGEST_COLLECTION_MILLIS = 60_000;

    static {
        // Vert.x turns it off where nobody says so.
        System.setProperty("io.netty.leakDetection.level", "paranoid");
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(
                new ResourceLeakDetectorFactory() {
                    @Override
                    @SuppressWarnings("deprecation") // the only one that is abstract
                    public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource,
                            int samplingInterval, long maxActive) {
                        return new Recording<>(resource, samplingInterval);
                    }
                });
    }

    private static final class Recording<T> extends ResourceLeakDetector<T> {
        Recording(Class<?> resource, int samplingInterval) {
            super(resource, samplingInterval);
        }

        @Override
        protected boolean needReport() {
            return true;
        }

        @Override
        protected void reportTracedLeak(String resource, String records) {
            LEAKS.add(resource + records);
        }

        @Override
        protected void reportUntracedLeak(String resource) {
            LEAKS.add(resource);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        assertNone();
    }

    /** Nobody's buffers: none is left that is known by now. */
    public static void assertNone() {
        assertThat(collected()).as("buffers that nobody released").isEmpty();
    }

    /** Returns when the JVM has told of a collection: on a loaded machine it does so late. */
    private static void collect() {
        ReferenceQueue<Object> told = new ReferenceQueue<>();
        PhantomReference<Object> sentinel = new PhantomReference<>(new Object(), told);
        System.gc();
        try {
            assertThat(told.remove(LONGEST_COLLECTION_MILLIS)).as("a collection")
                    .isSameAs(sentinel);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Those of which it is known by now. */
    static List<String> collected() {
        for (int i = 0; i < COLLECTIONS; i++) {
            collect();
            // Netty looks at what was collected when it makes a buffer.
            PooledByteBufAllocator.DEFAULT.directBuffer(1).release();
        }
        List<String> leaks = new ArrayList<>();
        for (String leak = LEAKS.poll(); leak != null; leak = LEAKS.poll()) {
            leaks.add(leak);
        }
        return leaks;
    }
}
