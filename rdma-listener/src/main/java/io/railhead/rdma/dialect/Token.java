package io.railhead.rdma.dialect;

/**
 * The 81-character descriptor (cuObject DC_V1), seven lower-case hex fields:
 *
 * <pre>
 *  0               17        26        35    40      47  49                              81
 *  |address (16)  :|size (8):|rkey (8):|lid:|dct (6):|g:|gid (32)                        |
 * </pre>
 *
 * @param address
 *            first byte in the client's memory
 * @param length
 *            of the window, 1 to 2^32 - 1 bytes
 * @param key
 *            the memory's remote key
 * @param session
 *            the DCT number, 24 bits; over loopback the session's number
 * @param gid
 *            32 hex digits as sent
 */
public record Token(long address, long length, int key, int lid, int session, String gid) {}
