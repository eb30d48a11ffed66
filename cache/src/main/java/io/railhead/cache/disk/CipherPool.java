package io.railhead.cache.disk;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Ciphers for the threads that read a volume, as many as ever read at once. Any thread. */
final class CipherPool implements AutoCloseable {
    private final Queue<PageCipher> idle = new ConcurrentLinkedQueue<>();
    private final int pageBytes;

    CipherPool(int pageBytes) {
        this.pageBytes = pageBytes;
    }

    /** Returns a cipher for the caller alone until it is given back. */
    PageCipher take() {
        PageCipher taken = idle.poll();
        return taken == null ? new PageCipher(pageBytes) : taken;
    }

    void giveBack(PageCipher ownedCipher) {
        idle.add(ownedCipher);
    }

    /** Frees the ciphers, once nobody reads any more. */
    @Override
    public void close() {
        idle.forEach(PageCipher::close);
    }
}
