package io.railhead.os;

/** Operations on descriptors that a foreign library opened and owns. */
public final class Descriptors {
    private Descriptors() {}

    /** Closes the file of a descriptor, but keeps its number in use, without a file behind it. */
    public static void detach(int descriptor) {
        try (EventDescriptor nothing = new EventDescriptor()) {
            Libc.duplicateTo(nothing.descriptor(), descriptor);
        }
    }

    /** Makes reads fail with EAGAIN in place of blocking. */
    public static void setNonBlocking(int descriptor) {
        Libc.setNonBlocking(descriptor);
    }
}
