package io.railhead.client;

/** Receives the progress of a transfer; any thread. */
public interface Progress {
    Progress NONE = new Progress() {
        @Override
        public void expect(long totalBytes) {}

        @Override
        public void advance(long bytes) {}
    };

    void expect(long totalBytes);

    void advance(long bytes);
}
