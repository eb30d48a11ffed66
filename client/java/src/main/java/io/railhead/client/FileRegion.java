package io.railhead.client;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** A region of a file as a stream. Does not move the channel's position. One thread. */
final class FileRegion extends InputStream {
    private final FileChannel file;
    private final long end;
    private long position;

    FileRegion(FileChannel file, long offset, long bytes) {
        this.file = file;
        this.position = offset;
        this.end = offset + bytes;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (position == end) {
            return -1;
        }
        int want = (int) Math.min(length, end - position);
        int n = file.read(ByteBuffer.wrap(into, offset, want), position);
        if (n < 0) {
            throw new EOFException("the file became shorter while it was sent");
        }
        position += n;
        return n;
    }
}
