package io.railhead.client;

import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.rdma.dialect.Token;
import io.railhead.rdma.loopback.LoopbackFabric;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One session with a gateway and the memory it may write into: a sealed memfd, registered once, cut
 * into equal windows that are lent to one request at a time. Any thread.
 *
 * <pre>
 *  |window 0      |window 1      | ... |window n-1    |     one memfd, one key
 *  base           base + w
 * </pre>
 *
 * <p> A window whose request got no answer may still be written by the gateway. It is never lent
 * again: it breaks the session, and the memory is unmapped when the last window is back.
 */
final class LoopbackSession {
    private final Peers.Peer peer;
    private final Mapping mapping;
    private final int key;
    private final int windowBytes;
    private final BlockingQueue<Window> idle;
    private int lent;
    private boolean broken;
    private boolean released;

    private LoopbackSession(Peers.Peer peer, Mapping mapping, int key,
            int windowBytes, int windows) {
        this.peer = peer;
        this.mapping = mapping;
        this.key = key;
        this.windowBytes = windowBytes;
        idle = new ArrayBlockingQueue<>(windows);
        for (int i = 0; i < windows; i++) {
            idle.add(new Window(mapping.segment().asSlice((long) i * windowBytes, windowBytes)));
        }
    }

    /** Registers memory on a proven connection, which it owns from here on. */
    static LoopbackSession over(Peers.Peer ownedPeer, int windowBytes, int windows)
            throws IOException {
        Mapping mapping = null;
        boolean done = false;
        try (MemoryFile file = MemoryFile.create("railhead-client", (long) windowBytes * windows)) {
            mapping = file.map();
            int key = ownedPeer.register(file, mapping.segment().address());
            LoopbackSession session = new LoopbackSession(ownedPeer, mapping, key, windowBytes,
                    windows);
            done = true;
            return session;
        } finally {
            if (!done) {
                ownedPeer.close();
                if (mapping != null) {
                    mapping.close();
                }
            }
        }
    }

    int windowBytes() {
        return windowBytes;
    }

    synchronized boolean isUsable() {
        return !broken && peer.isOpen();
    }

    /** Waits for a window; null where the session broke meanwhile. */
    @Nullable
    Window lend() throws IOException {
        try {
            while (true) {
                Window window = idle.poll(100, TimeUnit.MILLISECONDS);
                synchronized (this) {
                    if (broken) {
                        if (window != null) {
                            idle.add(window);
                        }
                        return null;
                    }
                    if (window != null) {
                        lent++;
                        return window;
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a window");
        }
    }

    /** Takes a window back whose request was answered: the gateway is done with it. */
    synchronized void giveBack(Window window) {
        lent--;
        idle.add(window);
        releaseIfDone();
    }

    /** Takes a window back that the gateway may still write into, and ends the session. */
    synchronized void giveUp(Window window) {
        assert window.memory.byteSize() == windowBytes;
        lent--;
        end();
    }

    /** Ends the session; the memory goes when no window is lent any more. */
    synchronized void end() {
        if (!broken) {
            broken = true;
            peer.close();
        }
        releaseIfDone();
    }

    private void releaseIfDone() {
        if (broken && lent == 0 && !released) {
            released = true;
            mapping.close();
        }
    }

    /** One request's memory: where the gateway writes to, or reads from. */
    final class Window {
        private final MemorySegment memory;

        private Window(MemorySegment memory) {
            this.memory = memory;
        }

        ByteBuffer bytes(int length) {
            return memory.asSlice(0, length).asByteBuffer();
        }

        String token(int length) {
            return new Token(memory.address(), length, key, 0, peer.sessionNumber(),
                    LoopbackFabric.GID).format();
        }

        LoopbackSession session() {
            return LoopbackSession.this;
        }
    }
}
