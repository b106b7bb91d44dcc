/** The protocol of table servers: addresses, sockets with deadlines, TLS, frames. docs/formats/table-protocol.md. */
package org.yunti.table.client.wire;
