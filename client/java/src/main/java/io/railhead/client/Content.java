package io.railhead.client;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** Bytes to be stored, which can be read more than once. */
sealed interface Content {
    long bytes();

    InputStream stream();

    /** Fills the buffer from the start. */
    void readInto(ByteBuffer into) throws IOException;

    /** A region of a file. */
    record OfFile(FileChannel file, long offset, long bytes) implements Content {
        @Override
        public InputStream stream() {
            return new FileRegion(file, offset, bytes);
        }

        @Override
        public void readInto(ByteBuffer into) throws IOException {
            long position = offset;
            while (into.hasRemaining()) {
                int n = file.read(into, position);
                if (n < 0) {
                    throw new EOFException("the file became shorter while it was sent");
                }
                position += n;
            }
        }
    }

    /** The first bytes of an array, which must not change meanwhile. */
    @SuppressWarnings("ArrayRecordComponent")
    record OfArray(byte[] array, int length) implements Content {
        @Override
        public long bytes() {
            return length;
        }

        @Override
        public InputStream stream() {
            return new ByteArrayInputStream(array, 0, length);
        }

        @Override
        public void readInto(ByteBuffer into) {
            into.put(array, 0, into.remaining());
        }
    }
}
