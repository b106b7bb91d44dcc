/**
 * Tables at servers.
 *
 * <pre>
 *   TableClient, ClientOptions   what a program uses       Cluster, Server   who has which shard, and answers
 *   KeyRequest, Found            keys out, rows in         Lookup            from requests to responses, with failover
 * </pre>
 */
package org.yunti.table.client;
