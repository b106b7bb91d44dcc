<?php
// The basket of a shop: the page asks for price, stock and gifts at the same time.
require __DIR__ . '/basket.php';
require __DIR__ . '/depot.php';

$config = ['depot' => (int) getenv('DEPOT'), 'plan' => getenv('PLAN')];
session_start();

function reply(array $data): void
{
    header('Content-Type: application/json');
    $text = json_encode($data);
    header('Content-Length: ' . strlen($text));
    echo $text;
}

function stock(Basket $basket, Depot $depot): array
{
    $out = [];
    foreach ($basket->articles() as $article) {
        $out[$article] = $depot->stock($article);
    }
    return $out;
}

$basket = Basket::current();
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/stock') {
    if ($config['plan'] === 'b') {
        session_write_close();
    }
    reply(['stock' => stock($basket, new Depot($config['depot']))]);
} else {
    reply(['articles' => $basket->articles(), 'pid' => getmypid()]);
}
