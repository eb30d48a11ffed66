package io.railhead.os;

/** What is asked of descriptors that a foreign library opened and owns. */
public final class Descriptors {
    private Descriptors() {}

    /** Reads of it fail with EAGAIN from now on where they would have blocked. */
    public static void setNonBlocking(int descriptor) {
        Libc.setNonBlocking(descriptor);
    }
}
