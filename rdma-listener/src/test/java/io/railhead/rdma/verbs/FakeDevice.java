package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.SVCReqNotify;
import io.railhead.os.EventDescriptor;
import io.railhead.os.verbs.AsyncEvent;
import io.railhead.os.verbs.DeviceLimits;
import io.railhead.os.verbs.PortAttributes;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A device that notes in {@link #calls} what is made and destroyed, and refuses what it is told to.
 * Needs rdma-core's libraries, which work requests are prepared for, and no adapter.
 */
final class FakeDevice implements AutoCloseable {
    final List<String> calls = new ArrayList<>();
    /** Names of extensions and of destructions that fail from now on. */
    final List<String> failing = new ArrayList<>();
    /** Those that find no memory from now on. */
    final List<String> exhausted = new ArrayList<>();
    /** What it reports next. */
    final Deque<AsyncEvent> events = new ArrayDeque<>();
    final VerbsExtensions verbs;
    private final EventDescriptor descriptor = new EventDescriptor();

    FakeDevice() throws IOException {
        VerbsExtensions real = VerbsProvider.install();
        Set<String> prepared = Set.of("prepareSends", "prepareReceives", "completions");
        verbs = (VerbsExtensions) Proxy.newProxyInstance(VerbsExtensions.class.getClassLoader(),
                new Class<?>[]{VerbsExtensions.class}, (_, method, arguments) -> {
                    if (!prepared.contains(method.getName())) {
                        return answer(method.getName());
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private @Nullable Object answer(String method) throws IOException {
        called(method);
        return switch (method) {
            case "open" -> new Context();
            case "limits" -> new DeviceLimits(1 << 30, 10, 1024, 16, 16, 10, 1024, 10, 16, 16);
            case "register" -> new IbvMr(new Context(), 0, 0, 0, 1, 2, 3) {
            };
            case "port" -> new PortAttributes(4, 5, 4, 0, 2);
            case "nextAsyncEvent" -> events.poll();
            case "statusText" -> "a status";
            case "createQueuePair" -> new IbvQP(7);
            case "connectionAttributes", "queuePairAttributes" -> new TestAttributes(0);
            default -> this;
        };
    }

    private void called(String name) throws IOException {
        calls.add(name);
        if (failing.contains(name)) {
            throw new IOException(name + " is refused");
        }
        if (exhausted.contains(name)) {
            throw new OutOfMemoryError(name);
        }
    }

    /** How often it was called. */
    long count(String name) {
        return calls.stream().filter(name::equals).count();
    }

    @Override
    public void close() {
        descriptor.close();
    }

    private final class Context extends IbvContext {
        Context() throws IOException {
            super(0, 1);
        }

        @Override
        public IbvPd allocPd() throws IOException {
            return new IbvPd(this) {
                @Override
                public int deallocPd() throws IOException {
                    called("deallocPd");
                    return 0;
                }
            };
        }

        @Override
        public IbvCompChannel createCompChannel() throws IOException {
            called("createCompChannel");
            return new Channel(this);
        }

        @Override
        public IbvCQ createCQ(IbvCompChannel channel, int entries, int vector)
                throws IOException {
            called("createCQ");
            return new Queue(this, channel);
        }
    }

    private final class Channel extends IbvCompChannel {
        Channel(IbvContext context) throws IOException {
            super(descriptor.descriptor(), context);
        }

        @Override
        public int destroyCompChannel() throws IOException {
            called("destroyCompChannel");
            return 0;
        }
    }

    private final class Queue extends IbvCQ {
        Queue(IbvContext context, IbvCompChannel channel) throws IOException {
            super(context, channel, 0);
        }

        @Override
        public SVCReqNotify reqNotification(boolean solicited) throws IOException {
            called("reqNotification");
            return new Notification();
        }

        @Override
        public int ackEvents(int events) {
            return 0;
        }

        @Override
        public int destroyCQ() throws IOException {
            called("destroyCQ");
            return 0;
        }
    }

    private static final class Notification extends SVCReqNotify {

        @Override
        public SVCReqNotify execute() {
            return this;
        }

        @Override
        public boolean isValid() {
            return true;
        }

        @Override
        public SVCReqNotify free() {
            return this;
        }
    }
}
