package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Methods of an object as functions that a library's structures can point to. What one throws would
 * end the process: it is handed on, and the function returns 0.
 */
final class Upcalls {
    private final Object target;
    private final Arena arena;
    private final MethodHandle thrown;

    Upcalls(Object target, Arena arena, Consumer<Throwable> thrown)
            throws ReflectiveOperationException {
        this.target = target;
        this.arena = arena;
        this.thrown = MethodHandles.lookup()
                .findVirtual(Consumer.class, "accept",
                        MethodType.methodType(void.class, Object.class))
                .bindTo(thrown)
                .asType(MethodType.methodType(void.class, Throwable.class));
    }

    /** The one method of that name, of int, long and boolean. */
    @SuppressWarnings("restricted")
    MemorySegment of(String name) throws ReflectiveOperationException {
        Method method = Arrays.stream(target.getClass().getDeclaredMethods())
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new NoSuchMethodException(name));
        MethodHandle handle = MethodHandles.lookup().unreflect(method).bindTo(target);
        MethodType type = handle.type();
        MethodHandle instead = type.returnType() == void.class
                ? thrown
                : MethodHandles.filterReturnValue(thrown, MethodHandles.zero(type.returnType()));
        return Linker.nativeLinker()
                .upcallStub(MethodHandles.catchException(handle, Throwable.class, instead),
                        descriptor(type), arena);
    }

    private static FunctionDescriptor descriptor(MethodType type) {
        MemoryLayout[] arguments = type.parameterList()
                .stream()
                .map(Upcalls::layout)
                .toArray(MemoryLayout[]::new);
        return type.returnType() == void.class
                ? FunctionDescriptor.ofVoid(arguments)
                : FunctionDescriptor.of(layout(type.returnType()), arguments);
    }

    private static MemoryLayout layout(Class<?> type) {
        if (type == boolean.class) {
            return JAVA_BOOLEAN;
        }
        return type == int.class ? JAVA_INT : JAVA_LONG;
    }
}
