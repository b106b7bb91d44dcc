<?php

class Basket
{
    private array $articles;

    private function __construct(array $articles)
    {
        $this->articles = $articles;
    }

    public static function current(): Basket
    {
        if (!isset($_SESSION['articles'])) {
            $_SESSION['articles'] = ['A-' . random_int(100, 999)];
        }
        $_SESSION['seen'] = time();
        return new Basket($_SESSION['articles']);
    }

    public function articles(): array
    {
        return $this->articles;
    }
}
