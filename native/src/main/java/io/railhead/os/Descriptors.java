package io.railhead.os;

/** Operations on descriptors that a foreign library opened and owns. */
public final class Descriptors {
    private Descriptors() {}

    /** Closes what it leads to; the number stays taken, and leads to nothing. */
    public static void detach(int descriptor) {
        try (EventDescriptor nothing = new EventDescriptor()) {
            Libc.duplicateTo(nothing.descriptor(), descriptor);
        }
    }

    /** Reads of it fail with EAGAIN from now on where they would have blocked. */
    public static void setNonBlocking(int descriptor) {
        Libc.setNonBlocking(descriptor);
    }
}
