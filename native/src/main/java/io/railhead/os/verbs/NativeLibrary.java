package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Set;

/**
 * A shared library of rdma-core, and the only {@code Linker} of this package. Pointers are passed
 * as {@code long}. A missing library or symbol throws {@link VerbsUnavailableException}.
 */
final class NativeLibrary {
    static final MemoryLayout POINTER = JAVA_LONG;
    /** A pointer to memory of this process, which must live through the call. */
    static final MemoryLayout SEGMENT = ADDRESS;
    static final int EAGAIN = 11;

    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

    private final String name;
    private final SymbolLookup symbols;

    /** A library whose functions are not found by the dynamic linker, as in a test. */
    NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    @SuppressWarnings("restricted")
    static NativeLibrary open(String name, String mend) throws VerbsUnavailableException {
        String system = System.getProperty("os.name");
        String machine = System.getProperty("os.arch");
        if (!"Linux".equals(system) || !Set.of("amd64", "aarch64").contains(machine)) {
            throw new VerbsUnavailableException(
                    "needs Linux on x86_64 or aarch64, this is " + system + " on " + machine);
        }
        try {
            return new NativeLibrary(name, SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException e) {
            throw new VerbsUnavailableException(name + " cannot be loaded; " + mend);
        }
    }

    /** Returns the C library of this process. */
    static NativeLibrary ofProcess() {
        return new NativeLibrary("the C library", Linker.nativeLinker().defaultLookup());
    }

    /** Returns whether this process uses the GNU C library. */
    static boolean isGnu() {
        return Linker.nativeLinker().defaultLookup().find("gnu_get_libc_version").isPresent();
    }

    /**
     * Returns an exported function of int and pointer arguments; the first argument captures errno.
     */
    MethodHandle function(String symbol, MemoryLayout result, MemoryLayout... arguments)
            throws VerbsUnavailableException {
        return link(symbol, FunctionDescriptor.of(result, arguments));
    }

    MethodHandle procedure(String symbol, MemoryLayout... arguments)
            throws VerbsUnavailableException {
        return link(symbol, FunctionDescriptor.ofVoid(arguments));
    }

    @SuppressWarnings("restricted")
    private MethodHandle link(String symbol, FunctionDescriptor descriptor)
            throws VerbsUnavailableException {
        MemorySegment address = symbols.find(symbol)
                .orElseThrow(() -> new VerbsUnavailableException(name + " has no " + symbol));
        return Linker.nativeLinker()
                .downcallHandle(address, descriptor,
                        Linker.Option.captureCallState("errno"));
    }

    /**
     * Returns a function that the headers inline, called by a pointer in a structure, which is the
     * handle's first argument. It captures no errno, since these functions return theirs. Never
     * "critical": soft-RoCE moves the bytes inside post_send, and a garbage collection must not
     * wait for that.
     */
    @SuppressWarnings("restricted")
    static MethodHandle pointer(MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, arguments));
    }

    /** Returns such a function without a result. */
    @SuppressWarnings("restricted")
    static MethodHandle procedurePointer(MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid(arguments));
    }

    @SuppressWarnings("restricted")
    static MemorySegment functionAt(long address) {
        if (address == 0) {
            throw new IllegalArgumentException("no function at address 0");
        }
        return MemorySegment.ofAddress(address);
    }

    /** A call whose argument is the segment for errno. */
    interface Call {
        long invoke(MemorySegment state) throws Throwable;
    }

    /**
     * A call without a result. Its body must be a block: as an expression, a void handle would be
     * called for an Object.
     */
    interface VoidCall {
        void invoke(MemorySegment state) throws Throwable;
    }

    /** Calls a function that returns a pointer, or NULL with errno. */
    static long pointerOf(String call, Call invocation) throws VerbsException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = invoke(invocation, state);
            if (result == 0) {
                throw new VerbsException(call, errno(state));
            }
            return result;
        }
    }

    /** Calls a function that returns 0, or fails with either -1 and errno or the errno itself. */
    static void check(String call, Call invocation) throws VerbsException {
        int errno = attempt(invocation);
        if (errno != 0) {
            throw new VerbsException(call, errno);
        }
    }

    /** Calls such a function and returns the errno; 0 means success. */
    static int attempt(Call invocation) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = invoke(invocation, state);
            return result == -1 ? Math.max(errno(state), 1) : (int) result;
        }
    }

    static void run(VoidCall invocation) {
        attempt(state -> {
            invocation.invoke(state);
            return 0;
        });
    }

    /** Returns memory for a call's errno, which lives while it is reachable. */
    static MemorySegment newState() {
        return Arena.ofAuto().allocate(STATE);
    }

    static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    private static long invoke(Call call, MemorySegment state) {
        try {
            return call.invoke(state);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall threw a checked exception", e);
        }
    }
}
