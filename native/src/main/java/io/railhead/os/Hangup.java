package io.railhead.os;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SIGHUP, which ends a JVM unless it is handled.
 *
 * <p> The JDK's only interface to signals is {@code sun.misc.Signal} of {@code jdk.unsupported}. It
 * is looked up by name, since javac warns of every class that names it.
 */
public final class Hangup {
    private static final Logger LOG = LoggerFactory.getLogger(Hangup.class);

    private Hangup() {}

    /**
     * Runs an action at each SIGHUP, on a thread of the JVM.
     *
     * @return false if this JVM forbids handling it: SIGHUP then ends the process as before
     */
    public static boolean handle(Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle run = MethodHandles.dropArguments(
                    lookup.findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
                            .bindTo(action),
                    0, signal);
            Object hangup = lookup
                    .findConstructor(signal, MethodType.methodType(void.class, String.class))
                    .invoke("HUP");
            Object _ = lookup
                    .findStatic(signal, "handle", MethodType.methodType(handler, signal, handler))
                    .invoke(hangup, MethodHandleProxies.asInterfaceInstance(handler, run));
            return true;
        } catch (Throwable e) {
            // Method handles throw what their target throws: with -Xrs the JVM refuses.
            LOG.warn("SIGHUP cannot be handled, and ends the process: {}", e.toString());
            return false;
        }
    }
}
