package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import io.railhead.os.EventDescriptor;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@link FakeNic} as a device of {@link VerbsExtensions}. */
final class FakeExtensions implements AutoCloseable {
    private static final Set<String> REAL = Set.of("declined", "prepareSends", "prepareReceives",
            "completions", "statusText");
    private static final DeviceLimits LIMITS = new DeviceLimits(1L << 40, 1024, 8192, 30, 30, 1024,
            1 << 16, 1 << 16, 16, 16);

    private final FakeNic nic;
    private final long device;
    private final VerbsExtensions installed;
    private final VerbsExtensions verbs;
    private final EventDescriptor descriptor = new EventDescriptor();
    private final Queue<AsyncEvent> events = new ArrayDeque<>();
    private final List<FakeContext> contexts = new ArrayList<>();

    private static final class Registration extends IbvMr {
        private final FakeContext.Domain domain;

        Registration(FakeContext.Domain domain, long address, long bytes, int access, int key)
                throws IOException {
            super(domain.getContext(), address, (int) Math.min(bytes, Integer.MAX_VALUE), access,
                    key, key, key);
            this.domain = domain;
        }
    }

    FakeExtensions(FakeNic nic, long device, VerbsExtensions installed) {
        this.nic = nic;
        this.device = device;
        this.installed = installed;
        verbs = (VerbsExtensions) Proxy.newProxyInstance(VerbsExtensions.class.getClassLoader(),
                new Class<?>[]{VerbsExtensions.class},
                (_, method, arguments) -> invoke(method, arguments));
    }

    VerbsExtensions verbs() {
        return verbs;
    }

    private @Nullable Object invoke(Method method, Object[] arguments)
            throws Throwable {
        if (REAL.contains(method.getName())) {
            try {
                return method.invoke(installed, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
        return switch (method.getName()) {
            case "devices" -> List.of(FakeMlx5.DEVICE);
            case "deviceName" -> FakeMlx5.DEVICE;
            case "limits" -> LIMITS;
            case "port" -> nic.port();
            case "asyncDescriptor" -> descriptor.descriptor();
            case "nextAsyncEvent" -> next();
            case "open" -> open((String) arguments[0]);
            case "close" -> close((IbvContext) arguments[0]);
            case "register" -> register((IbvPd) arguments[0], (long) arguments[1],
                    (long) arguments[2], (int) arguments[3]);
            case "deregister" -> deregister((IbvMr) arguments[0]);
            default -> throw new UnsupportedOperationException(method.getName());
        };
    }

    private IbvContext open(String name) throws IOException, ReflectiveOperationException {
        if (!name.equals(FakeMlx5.DEVICE)) {
            throw new VerbsUnavailableException("no RDMA device named " + name);
        }
        FakeContext context = FakeContext.open(nic, device);
        synchronized (nic) {
            contexts.add(context);
        }
        return context;
    }

    private @Nullable Object close(IbvContext context) {
        synchronized (nic) {
            if (((FakeContext) context).children() != 0) {
                throw new IllegalStateException("a context is closed before what it made");
            }
            contexts.remove(context);
        }
        context.close();
        return null;
    }

    int objects() {
        synchronized (nic) {
            return contexts.size() + contexts.stream().mapToInt(FakeContext::children).sum();
        }
    }

    private IbvMr register(IbvPd domain, long address, long bytes, int access)
            throws IOException {
        FakeContext.Domain owner = (FakeContext.Domain) domain;
        owner.uses.incrementAndGet();
        int key = nic.nextKey();
        synchronized (nic) {
            nic.registered.put(key,
                    new FakeNic.Registered(owner.address, address, bytes, access));
        }
        return new Registration(owner, address, bytes, access, key);
    }

    private @Nullable Object deregister(IbvMr registration) {
        synchronized (nic) {
            if (nic.registered.remove(registration.getLkey()) == null) {
                throw new IllegalStateException("already deregistered");
            }
        }
        ((Registration) registration).domain.uses.decrementAndGet();
        return null;
    }

    void raise(AsyncEvent event) {
        synchronized (nic) {
            events.add(event);
            descriptor.signal();
        }
    }

    private @Nullable AsyncEvent next() {
        synchronized (nic) {
            AsyncEvent next = events.poll();
            if (events.isEmpty()) {
                descriptor.clear();
            }
            return next;
        }
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
